// From scores of steps to the score of a path (R5).
#ifndef ESPALIER_SEARCH_PARTS_AGGREGATE_H_
#define ESPALIER_SEARCH_PARTS_AGGREGATE_H_

#include <array>
#include <string_view>

#include "search/tree/tree.h"

namespace espalier {

enum class Aggregate : uint8_t { kLast, kMin, kProduct, kMean };
inline constexpr std::array<std::string_view, 4> kAggregateNames = {
    "last", "min", "product", "mean"};

// Which head is aggregated: "this step is right" or "all so far are".
enum class Level : uint8_t { kPath, kStep };
inline constexpr std::array<std::string_view, 2> kLevelNames = {"path", "step"};

// Aggregate of the scores on the way from the root to `node`, all of which
// are scored. 1 for the root.
float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_AGGREGATE_H_
