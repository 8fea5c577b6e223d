// The open nodes of a best-first search: a binary heap.
//
//   Frontier frontier;
//   frontier.Push(kRoot, 0);
//   NodeId next = frontier.Pop();  // highest rank, of equals the oldest node
//
// The order of Pop does not depend on the order of Push: nodes are numbered in
// order of creation, and that breaks ties. Externally synchronised.
#ifndef ESPALIER_SEARCH_PARTS_FRONTIER_H_
#define ESPALIER_SEARCH_PARTS_FRONTIER_H_

#include <algorithm>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

class Frontier {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  void Push(NodeId node, double rank) {
    heap_.push_back({rank, node});
    std::push_heap(heap_.begin(), heap_.end(), After());
  }
  // Of a frontier that is not empty, as Pop.
  NodeId top() const { return heap_.front().node; }
  double top_rank() const { return heap_.front().rank; }
  NodeId Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), After());
    const NodeId node = heap_.back().node;
    heap_.pop_back();
    return node;
  }

 private:
  struct Entry {
    double rank;
    NodeId node;
  };
  struct After {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.rank != b.rank ? a.rank < b.rank : a.node > b.node;
    }
  };
  std::vector<Entry> heap_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_FRONTIER_H_
