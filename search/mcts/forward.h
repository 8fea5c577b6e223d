// Forward steps: a better value for the most promising new child.
//
//   v(c) <- (1 - w) v(c) + w max over the steps s of a greedy rollout of
//           `forward` steps from c of v(s),     c = argmax of the children's v
//
// After ReST-MCTS* (Zhang et al. 2024, arXiv:2406.03816), where the steps are
// samples and count as the child's first visit (mcts_star.cc).
#ifndef ESPALIER_SEARCH_MCTS_FORWARD_H_
#define ESPALIER_SEARCH_MCTS_FORWARD_H_

#include "search/mcts/mcts_options.h"
#include "search/search_context.h"

namespace espalier {

// Sets q of the best scored child of `parent`. The steps stay in the tree,
// unvisited.
Co<> Forward(SearchContext& ctx, NodeId parent, const MctsOptions& options);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_FORWARD_H_
