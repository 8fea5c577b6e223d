// One response sampled step by step from a node on.
#ifndef ESPALIER_SEARCH_PARTS_ROLLOUT_H_
#define ESPALIER_SEARCH_PARTS_ROLLOUT_H_

#include "search/search_context.h"

namespace espalier {

// Returns the terminal node reached, or kNoNode if the response was cut by a
// budget or a length limit before its end. All steps come from `by`.
Co<NodeId> Rollout(SearchContext& ctx, NodeId from, float temperature,
                   Role by = Role::kPolicy);

// The end of the response at `node`, written greedily where it has not ended:
// for a method that is over and has chosen `node`. What is held back for the
// stage of finishing may be spent on it (SearchContext::BeginFinish). kNoNode
// where what is left should not do and that stage follows, which then does with
// it what it can, and where a budget other than of tokens is spent.
Co<NodeId> CarryOn(SearchContext& ctx, NodeId node);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_ROLLOUT_H_
