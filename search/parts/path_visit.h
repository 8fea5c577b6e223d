// A visit in progress: a path from the root whose nodes each count one visit in
// flight, until it is finished or abandoned.
//
//   PathVisit visit(tree);
//   visit.Begin();
//   while (...) visit.Enter(child);
//   visit.Finish();                // or Abandon(); the destructor abandons
//
// The PathVisit owns these visits: only it takes them back, and none is left
// behind. Where nodes are aliases (transpositions.h) the path holds the
// selected nodes, and `state` is the node that the last one stands for.
#ifndef ESPALIER_SEARCH_PARTS_PATH_VISIT_H_
#define ESPALIER_SEARCH_PARTS_PATH_VISIT_H_

#include <vector>

#include "base/check.h"
#include "search/tree/tree.h"

namespace espalier {

// Externally synchronised.
class PathVisit {
 public:
  explicit PathVisit(Tree& tree) : tree_(tree) {}
  PathVisit(const PathVisit&) = delete;
  PathVisit& operator=(const PathVisit&) = delete;
  ~PathVisit() { Abandon(); }

  void Begin() {
    ESP_CHECK(!open_);
    open_ = true;
    path_.clear();
    Enter(kRoot);
  }
  void Enter(NodeId node) {
    ++tree_[node].in_flight;
    path_.push_back(node);
  }
  // Counts the visits as finished. The path can be read until the next Begin.
  void Finish() {
    Finish([](NodeId, Node&) {});
  }
  // The same, then calls `each` on every node of the path, with its visits
  // updated.
  template <class Each>
  void Finish(const Each& each) {
    ESP_CHECK(open_);
    open_ = false;
    for (const NodeId id : path_) {
      Node& node = tree_[id];
      --node.in_flight;
      ++node.visits;
      each(id, node);
    }
  }
  // Takes the visits back, unless the visit is finished.
  void Abandon() {
    if (!open_) return;
    open_ = false;
    for (const NodeId id : path_) --tree_[id].in_flight;
  }

  const std::vector<NodeId>& path() const { return path_; }
  NodeId last() const { return path_.back(); }
  NodeId state() const { return tree_.Original(path_.back()); }

 private:
  Tree& tree_;
  bool open_ = false;
  std::vector<NodeId> path_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_PATH_VISIT_H_
