// The arms of every node of an adaptive branching search, and which of them may
// still be drawn.
//
//   node --- GEN               draw a new child here
//     |  `-- CONT -- child 1   continue below one of the children
//     |           `- child 2
//
// A draw made at `from` that got `score` ends in `end`, one step or a whole
// response below. The score counts
//   - for every node that the draw went through, starting with `from`: for GEN,
//     and for the arm of the step it took, since a response drawn from `from`
//     is also one drawn from each of its steps;
//   - for every edge from the root to `from`: for CONT and the arm of its
//     child;
//   - as one visit of every node from the root to `end`.
// Drawing an existing child is one more observation of it.
//
// Closed arms are never chosen: that of a terminal child; GEN after `patience`
// consecutive draws without a new child; that of a node whose GEN and children
// are all closed. With patience 0 GEN closes only where no step can follow, or
// after many consecutive draws without a score. A new child found later by a
// draw from above reopens them. An open node has an open arm, and a closed root
// ends a search.
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_BANDIT_ARM_TREE_H_
#define ESPALIER_SEARCH_BANDIT_ARM_TREE_H_

#include <vector>

#include "search/bandit/thompson.h"
#include "search/tree/tree.h"

namespace espalier {

struct Arms {
  RewardStats self;            // of this node as an arm of its parent
  RewardStats gen, cont;       // its own two arms
  uint32_t open_children = 0;  // observed children that are not closed
  int32_t fruitless = 0;       // consecutive draws without a new child
  bool gen_closed = false;
  bool closed = false;
};
static_assert(sizeof(Arms) == 88, "one per node, read at every choice");

class ArmTree {
 public:
  ArmTree(Tree& tree, int patience) : tree_(tree), patience_(patience) {
    arms_.resize(1);
  }

  // `id`: the root or a node that an Observe passed through.
  const Arms& operator[](NodeId id) const { return arms_[id]; }
  bool observed(NodeId id) const {
    return id < arms_.size() && arms_[id].self.count > 0;
  }
  bool open_child(NodeId id) const { return observed(id) && !arms_[id].closed; }

  void Observe(NodeId from, NodeId end, double score);
  // A draw at `from` had no score: it was cut by a limit or, if `for_good`,
  // nothing can follow there.
  void ObserveNothing(NodeId from, bool for_good);

 private:
  // Call when `id` has a new child or draws left again.
  void Open(NodeId id);
  void CloseFinished(NodeId id);  // `id` and its ancestors

  Tree& tree_;
  int patience_;
  std::vector<Arms> arms_;  // by node
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_ARM_TREE_H_
