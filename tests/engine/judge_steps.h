// Runs a judge's parts on their backends until everything asked is answered.
#ifndef ESPALIER_TESTS_ENGINE_JUDGE_STEPS_H_
#define ESPALIER_TESTS_ENGINE_JUDGE_STEPS_H_

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/backend/backend.h"
#include "search/tree/tree.h"
#include "src/engine/step_judge.h"

namespace espalier {

// The completions in the order in which they came.
inline std::vector<SearchCompletion> RunJudge(StepJudge& judge,
                                              const Tree& tree) {
  std::vector<SearchCompletion> scored;
  std::map<RequestId, uint64_t> parts;
  std::set<Backend*> backends;
  RequestId next = 1;
  while (true) {
    for (StepJudge::Part& part : judge.TakeParts()) {
      part.request.id = next;
      parts[next++] = part.id;
      backends.insert(part.backend);
      part.backend->Submit(std::move(part.request));
    }
    for (SearchCompletion& one : judge.TakeScored(tree)) {
      scored.push_back(std::move(one));
    }
    if (parts.empty()) return scored;
    for (Backend* backend : backends) {
      std::vector<Completion> done;
      backend->Step(done);
      for (Completion& completion : done) {
        const auto part = parts.extract(completion.id);
        judge.Answer(part.mapped(), tree, std::move(completion));
      }
    }
  }
}

// The same for one request of these nodes.
inline SearchCompletion Judge(StepJudge& judge, const Tree& tree,
                              const std::vector<NodeId>& nodes,
                              int max_tokens = 0) {
  judge.Ask(1, tree, nodes, max_tokens);
  std::vector<SearchCompletion> scored = RunJudge(judge, tree);
  return scored.size() == 1 ? std::move(scored[0]) : SearchCompletion();
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_JUDGE_STEPS_H_
