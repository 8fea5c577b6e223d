// Next steps of several nodes at once.
#ifndef ESPALIER_SEARCH_PARTS_PROPOSE_H_
#define ESPALIER_SEARCH_PARTS_PROPOSE_H_

#include <vector>

#include "absl/types/span.h"
#include "search/search_context.h"

namespace espalier {

// Samples continuations of every node of `parents` and, if `evaluate`, scores
// them; the requests of each stage are sent together. `found[i]` is set to the
// samples of parents[i]: distinct ones in order of creation or, with `repeats`,
// all of them in order of sampling; without truncated steps and, if `evaluate`,
// without steps that a budget left unscored. `parents` and `found` outlive the
// call.
Co<> Propose(SearchContext& ctx, absl::Span<const NodeId> parents,
             ExpandOptions options, bool evaluate,
             std::vector<std::vector<NodeId>>& found, bool repeats = false);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_PROPOSE_H_
