// Log-probabilities of steps under the policy, per token.
#ifndef ESPALIER_SEARCH_PARTS_LOGPROB_H_
#define ESPALIER_SEARCH_PARTS_LOGPROB_H_

#include <algorithm>
#include <cstdint>

#include "search/tree/tree.h"

namespace espalier {

// Mean token log-prob of one step; the step's log-prob if it has no tokens.
inline double StepLogprob(const Step& step) {
  return step.logprob / std::max<double>(1, step.num_tokens);
}

// Mean token log-prob of the steps below `from` down to `to`; 0 if none.
inline double MeanLogprob(const Tree& tree, NodeId from, NodeId to) {
  double sum = 0;
  int64_t tokens = 0;
  for (NodeId id = to; id != from; id = tree[id].parent) {
    sum += tree.step(id).logprob;
    tokens += tree.step(id).num_tokens;
  }
  return sum / std::max<double>(1, static_cast<double>(tokens));
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_LOGPROB_H_
