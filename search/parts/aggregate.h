// Aggregates scores of steps into the score of a path.
//
//   PathScores scores(ctx.tree(), Level::kPath, Aggregate::kMin);
//   if (scores.Of(a) > scores.Of(b)) ...
#ifndef ESPALIER_SEARCH_PARTS_AGGREGATE_H_
#define ESPALIER_SEARCH_PARTS_AGGREGATE_H_

#include <array>
#include <string_view>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

enum class Aggregate : uint8_t { kLast, kMin, kProduct, kMean };
inline constexpr std::array<std::string_view, 4> kAggregateNames = {
    "last", "min", "product", "mean"};

// Which head is aggregated: "this step is right" or "all so far are".
enum class Level : uint8_t { kPath, kStep };
inline constexpr std::array<std::string_view, 2> kLevelNames = {"path", "step"};

// Aggregate of the scores on the path from the root to `node`, all of which are
// scored. 1 for the root.
float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate);

// The same for the nodes of one tree, each computed from its parent's: querying
// every node of a path is linear in its length. Scores never change once set,
// so cached values stay valid. Externally synchronised; the tree outlives it.
class PathScores {
 public:
  PathScores(const Tree& tree, Level level, Aggregate aggregate)
      : tree_(tree), level_(level), aggregate_(aggregate) {}
  // AggregatePath of `node`, bit for bit.
  float Of(NodeId node);

 private:
  struct Entry {
    float kept = 0;      // minimum, product or sum of the scores on the path
    uint32_t steps = 0;  // on the path; 0: not known yet
  };
  const Tree& tree_;
  const Level level_;
  const Aggregate aggregate_;
  std::vector<Entry> entries_;  // by node
  std::vector<NodeId> way_;     // scratch space of Of
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_AGGREGATE_H_
