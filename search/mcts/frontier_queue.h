// The frontier of DeepSearch: nodes that may be expanded, by priority
// (formula F in frontier.cc), and the value that its constrained backup makes.
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

// What the depth d of a node adds, of at most d_max.
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
// `length` steps, into a node at `depth` that had V. gamma is `threshold` at
// least.
double ConstrainedValue(double total, double value, int depth, int length,
                        double threshold = 0.1);

// V of each node, the sum that its q is made of: a sum, since ties are those of
// equal sums, which means brought back to a sum would break.
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
  // V of a node that has `visits` visits now.
  void Set(NodeId node, double total, uint32_t visits) {
    if (totals_.size() <= node) totals_.resize(tree_.size());
    totals_[node] = total;
    tree_[node].q = static_cast<float>(total / visits);
  }

 private:
  Tree& tree_;
  std::vector<double> totals_;
};

// Whether `a` comes before `b` when the tree is walked depth first, children in
// order of creation.
bool EarlierDepthFirst(const Tree& tree, NodeId a, NodeId b);

// How many children a node at some depth may have.
struct FrontierWidth {
  int width = 4;
  int decay = 0;  // taken off for every max_depth / width levels
  int least = 1;  // what is left of it
  int At(int depth, int max_depth) const {
    const int levels = std::max(1, max_depth / width);
    return decay == 0 ? width : std::max(least, width - depth / levels * decay);
  }
};

class FrontierQueue {
 public:
  // Told of each node whose priority it is now, -infinity when it may not be
  // expanded.
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

  // A node that may be expanded; ignored if it may not (a response ended, or
  // as many samples as it may have were drawn).
  void Enter(NodeId node);
  // The q of `node` changed: so did the priorities of its children and, with
  // a weight of its own, itself.
  void Changed(NodeId node);
  // Removes the node of highest priority, of equals the first in depth-first
  // order; kNoNode if there is none.
  NodeId Take();
  // Removes `node`, whose samples are asked for by somebody else.
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
  // By node: the stamp of its only valid entry; 0: it has none.
  std::vector<uint32_t> stamp_;
  std::vector<bool> waiting_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_
