// From scores of steps to the score of a path (R5).
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

// Aggregate of the scores on the way from the root to `node`, all of which
// are scored. 1 for the root.
float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate);

// The same for the nodes of one tree, each from its parent's: what a search
// asks of every node of a path costs as much as the path is long, not its
// square. Scores do not change once they are set, so neither does what is kept
// of them. Externally synchronised; the tree outlives it.
class PathScores {
 public:
  PathScores(const Tree& tree, Level level, Aggregate aggregate)
      : tree_(tree), level_(level), aggregate_(aggregate) {}
  // AggregatePath of `node`, bit for bit.
  float Of(NodeId node);

 private:
  struct Entry {
    float kept = 0;      // lowest, product or sum of the scores on the way
    uint32_t steps = 0;  // on the way; 0: not known yet
  };
  const Tree& tree_;
  const Level level_;
  const Aggregate aggregate_;
  std::vector<Entry> entries_;  // by node
  std::vector<NodeId> way_;     // room for Of
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_AGGREGATE_H_
