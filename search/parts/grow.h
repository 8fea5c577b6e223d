// Continues several responses in lockstep.
#ifndef ESPALIER_SEARCH_PARTS_GROW_H_
#define ESPALIER_SEARCH_PARTS_GROW_H_

#include <limits>
#include <vector>

#include "search/search_context.h"

namespace espalier {

inline constexpr int kToTheEnd = std::numeric_limits<int>::max();

// Continues every path by `steps` steps, or to its end; the requests of a step
// are sent together, one for each run of equal nodes. A path is given by its
// last node and becomes kNoNode if a budget or a length limit cut it. Equal
// entries are separate paths with separate draws. `paths` outlives the call.
Co<> Grow(SearchContext& ctx, int steps, float temperature,
          std::vector<NodeId>& paths);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_GROW_H_
