// Forward steps: a better value for the most promising of new children.
//
//   v(c) <- (1 - w) v(c) + w max over the steps s of a greedy roll-out of
//           `forward` steps from c of v(s),     c = argmax of the children's v
//
// After ReST-MCTS* (Zhang et al. 2024, arXiv:2406.03816), where the steps are
// samples and the child has a first visit by them (mcts_star.cc).
#ifndef ESPALIER_SEARCH_MCTS_FORWARD_H_
#define ESPALIER_SEARCH_MCTS_FORWARD_H_

#include "search/mcts/mcts_options.h"
#include "search/search_context.h"

namespace espalier {

// Sets q of the best scored child of `parent`. What the steps were is kept in
// the tree, unvisited.
Co<> Forward(SearchContext& ctx, NodeId parent, const MctsOptions& options);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_FORWARD_H_
