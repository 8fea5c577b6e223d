// The frontier of DeepSearch: nodes that may be expanded, by priority
// (formula F in frontier.cc), and the value that its constrained backup makes.
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_
#define ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

struct FrontierWeights {
  float parent = 0.4f;
  float entropy = 0.4f;
  float depth = 0.01f;
  float value = 0;
};

// F of a node. `surprisal`: mean -ln p of the tokens of its step.
float FrontierPriority(const FrontierWeights& weights, float parent_q, float q,
                       float surprisal, int depth, int max_depth);

// q after the constrained backup of `value`, +-1 at the end of a path of
// `length` steps, into a node at `depth` that had q over `visits` visits.
float ConstrainedValue(float q, int visits, float value, int depth, int length);

class FrontierQueue {
 public:
  // Told of each node whose priority it is now, -infinity when it may not be
  // expanded.
  using Listener = std::function<void(NodeId, float)>;
  FrontierQueue(const Tree& tree, const FrontierWeights& weights, int max_depth,
                Listener listener = {})
      : tree_(tree),
        weights_(weights),
        max_depth_(max_depth),
        listener_(std::move(listener)) {}

  // A node that may be expanded; ignored if it may not (a response ended, or
  // its `width` samples were drawn).
  void Enter(NodeId node, int width);
  // The q of `node` changed: so did the priorities of its children and, with
  // a weight of its own, itself.
  void Changed(NodeId node, int width);
  // Removes the node of highest priority, the first created of equals; kNoNode
  // if there is none.
  NodeId Take();

 private:
  struct Entry {
    float priority;
    NodeId node;
    uint32_t stamp;
    bool operator<(const Entry& other) const {
      return priority != other.priority ? priority < other.priority
                                        : node > other.node;
    }
  };
  const Tree& tree_;
  const FrontierWeights weights_;
  const int max_depth_;
  const Listener listener_;
  std::priority_queue<Entry> heap_;
  // By node: the stamp of its only valid entry; 0: it has none.
  std::vector<uint32_t> stamp_;
  std::vector<bool> waiting_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_FRONTIER_QUEUE_H_
