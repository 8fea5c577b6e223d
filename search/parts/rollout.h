// Samples one response step by step, starting from a node.
#ifndef ESPALIER_SEARCH_PARTS_ROLLOUT_H_
#define ESPALIER_SEARCH_PARTS_ROLLOUT_H_

#include "search/search_context.h"

namespace espalier {

// Returns the terminal node reached, or kNoNode if the response was cut by a
// budget or a length limit before its end. All steps come from `by`.
Co<NodeId> Rollout(SearchContext& ctx, NodeId from, float temperature,
                   ModelRole by = ModelRole::kPolicy);

// Completes the response at `node` greedily if it has not ended, and returns
// its terminal node: for a method that is over and has chosen `node`. May spend
// the tokens held back for the finishing stage (SearchContext::BeginFinish).
// Returns kNoNode if a budget other than tokens is spent, or if the remaining
// tokens are probably too few and the finishing stage follows, which then does
// what it can.
Co<NodeId> CarryOn(SearchContext& ctx, NodeId node);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_ROLLOUT_H_
