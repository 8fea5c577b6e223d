// The open nodes of a best-first search: a binary heap.
//
//   Frontier frontier;
//   frontier.Push(kRoot, 0);
//   NodeId next = frontier.Pop();  // highest rank, of equals the oldest node
//
// The order of Pop does not depend on the order of Push: ties go to the lower
// node index, which is the order of creation. With Ties::kHeap only `second`
// breaks ties, higher first: remaining equal nodes come in heap order, which is
// that of Python's heapq, step by step. Externally synchronised.
#ifndef ESPALIER_SEARCH_PARTS_FRONTIER_H_
#define ESPALIER_SEARCH_PARTS_FRONTIER_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

// Which of several nodes of equal rank comes first.
enum class Ties : uint8_t { kOldest, kHeap };
inline constexpr std::array<std::string_view, 2> kTiesNames = {"oldest",
                                                               "heap"};

class Frontier {
 public:
  Frontier() = default;
  explicit Frontier(Ties ties) : ties_(ties) {}
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  void Push(NodeId node, double rank, double second = 0) {
    heap_.emplace_back();
    Place(heap_.size() - 1, {rank, second, node});
  }
  // The node that Pop would return; the frontier must not be empty.
  NodeId top() const { return heap_.front().node; }
  double top_rank() const { return heap_.front().rank; }
  NodeId Pop() {
    const NodeId node = heap_.front().node;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return node;
    // The hole moves down to a leaf, and the last entry moves up from there.
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
      const size_t right = child + 1;
      if (right < heap_.size() && !Before(heap_[child], heap_[right])) {
        child = right;
      }
      heap_[hole] = heap_[child];
      hole = child;
    }
    Place(hole, last);
    return node;
  }

 private:
  struct Entry {
    double rank = 0;
    double second = 0;
    NodeId node = kNoNode;
  };
  bool Before(const Entry& a, const Entry& b) const {
    if (a.rank != b.rank) return a.rank > b.rank;
    return ties_ == Ties::kOldest ? a.node < b.node : a.second > b.second;
  }
  // Places `entry` on the path from `hole` to the top.
  void Place(size_t hole, const Entry& entry) {
    for (; hole > 0; hole = (hole - 1) / 2) {
      const Entry& parent = heap_[(hole - 1) / 2];
      if (!Before(entry, parent)) break;
      heap_[hole] = parent;
    }
    heap_[hole] = entry;
  }

  Ties ties_ = Ties::kOldest;
  std::vector<Entry> heap_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_FRONTIER_H_
