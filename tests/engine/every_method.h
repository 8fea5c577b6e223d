// Every registered method that needs only a policy and a reward model, with its
// defaults and some with other options: the input of tests of properties that
// hold for all methods.
#ifndef ESPALIER_TESTS_ENGINE_EVERY_METHOD_H_
#define ESPALIER_TESTS_ENGINE_EVERY_METHOD_H_

#include <algorithm>
#include <string>
#include <vector>

#include "search/algorithm.h"
#include "search/tree/check_tree.h"

namespace espalier {

inline std::vector<std::string> EveryMethod() {
  std::vector<std::string> methods;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const bool plain = std::all_of(
        info->needs.begin(), info->needs.end(), [](RequestKind kind) {
          return kind == RequestKind::kExpand || kind == RequestKind::kEvaluate;
        });
    if (plain) methods.push_back(info->name);
  }
  for (const char* more : {"weighted:aggregate=product:level=step",
                           "beam:width=3:branch=2",
                           "guided:accept=0",
                           "puct:in_flight=4",
                           "puct:descend=false:in_flight=3:widen=false",
                           "puct:share=step_set:in_flight=2",
                           "puct:close=false",
                           "uct:in_flight=5:virtual_loss=1:first_value=random",
                           "gumbel:in_flight=3",
                           "mcts_star:forward_branch=2:close=false",
                           "td_mcts:rollouts=2:close=false:until=selected",
                           "frontier:in_flight=4:width=3",
                           "best_first:in_flight=3:merge=last_step:score=sum",
                           "astar:in_flight=3",
                           "mctsr:rewrite=whole",
                           "particle:iterations=2:resampling=systematic",
                           "segments:share=last:fallback=lowest",
                           "ab_mcts_a:unit=step",
                           "ab_mcts_m:unit=step",
                           "ab_mcts_a:models=2",
                           "ab_mcts_m:models=3:model_choice=ucb",
                           "confidence:by=likelihood",
                           "mur:by=likelihood"}) {
    methods.push_back(more);
  }
  return methods;
}

// Invariants of the tree of `method`; frontier's values are in [-1, 1].
inline CheckTreeOptions InvariantsOf(const std::string& method) {
  CheckTreeOptions options;
  if (method.starts_with("frontier")) options.min_value = -1;
  return options;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_EVERY_METHOD_H_
