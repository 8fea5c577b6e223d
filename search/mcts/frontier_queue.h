// The frontier of DeepSearch: nodes that may be expanded, by priority (formula
// F in frontier.cc), and the values of its constrained backup.
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_
#define ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

// The depth term for depth d out of at most d_max.
enum class DepthBonus : uint8_t {
  kSqrt,      // sqrt(d / d_max)
  kLog,       // ln(d + 1)
  kConstant,  // d
};
inline constexpr std::array<std::string_view, 3> kDepthBonusNames = {
    "sqrt", "log", "constant"};

struct FrontierWeights {
  float parent = 0.4f;
  float entropy = 0.4f;
  float depth = 0.01f;
  float value = 0;
  DepthBonus bonus = DepthBonus::kSqrt;
};

// F of a node. `surprisal`: mean -ln p of the tokens of its step.
double FrontierPriority(const FrontierWeights& weights, double parent_q,
                        double q, double surprisal, int depth, int max_depth);

// V after the constrained backup of `value`, +-1 at the end of a path of
// `length` steps, into a node at `depth` with the old sum `total`. gamma is at
// least `threshold`.
double ConstrainedValue(double total, double value, int depth, int length,
                        double threshold = 0.1);

// V of each node, the sum behind its q. Kept as a sum because ties are between
// equal sums; converting a mean back to a sum would break them.
class FrontierValues {
 public:
  explicit FrontierValues(Tree& tree) : tree_(tree) {}
  double total(NodeId node) const {
    return node < totals_.size() ? totals_[node] : 0;
  }
  double q(NodeId node) const {
    const uint32_t visits = tree_[node].visits;
    return visits == 0 ? 0 : total(node) / visits;
  }
  // Sets V of a node that now has `visits` visits.
  void Set(NodeId node, double total, uint32_t visits) {
    if (totals_.size() <= node) totals_.resize(tree_.size());
    totals_[node] = total;
    tree_[node].q = static_cast<float>(total / visits);
  }

 private:
  Tree& tree_;
  std::vector<double> totals_;
};

// True if `a` comes before `b` depth-first, children in order of creation.
bool EarlierDepthFirst(const Tree& tree, NodeId a, NodeId b);

// Maximum number of children of a node, by depth.
struct FrontierWidth {
  int width = 4;
  int decay = 0;  // subtracted for every max_depth / width levels
  int least = 1;  // lower bound of the result
  int At(int depth, int max_depth) const {
    const int levels = std::max(1, max_depth / width);
    return decay == 0 ? width : std::max(least, width - depth / levels * decay);
  }
};

class FrontierQueue {
 public:
  // Called with each node's new priority, -infinity if it may not be expanded.
  using Listener = std::function<void(NodeId, double)>;
  FrontierQueue(const Tree& tree, const FrontierValues& values,
                const FrontierWeights& weights, const FrontierWidth& width,
                int max_depth, Listener listener = {})
      : tree_(tree),
        values_(values),
        weights_(weights),
        width_(width),
        max_depth_(max_depth),
        listener_(std::move(listener)),
        heap_(Later{&tree}) {}

  // Adds a node that may be expanded; ignores one that may not (a response
  // ended, or it has had its maximum number of samples).
  void Enter(NodeId node);
  // Call when the q of `node` changed: this changes the priorities of its
  // children and, if q(s) has a weight, its own.
  void Changed(NodeId node);
  // Removes the node of highest priority, ties to the first in depth-first
  // order; kNoNode if there is none.
  NodeId Take();
  // Removes `node`, which another descent is expanding.
  void Remove(NodeId node) {
    if (node < waiting_.size()) waiting_[node] = false;
  }

 private:
  struct Entry {
    double priority;
    NodeId node;
    uint32_t stamp;
  };
  struct Later {
    const Tree* tree;
    bool operator()(const Entry& a, const Entry& b) const {
      return a.priority != b.priority
                 ? a.priority < b.priority
                 : EarlierDepthFirst(*tree, b.node, a.node);
    }
  };
  const Tree& tree_;
  const FrontierValues& values_;
  const FrontierWeights weights_;
  const FrontierWidth width_;
  const int max_depth_;
  const Listener listener_;
  std::priority_queue<Entry, std::vector<Entry>, Later> heap_;
  // By node: the stamp of its only valid entry; 0: none.
  std::vector<uint32_t> stamp_;
  std::vector<bool> waiting_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_
