#include "search/bandit/arm_tree.h"

namespace espalier {
namespace {

// Consecutive draws without a score after which a node gets no more, even if
// patience is unlimited: responses from there are too long.
constexpr int kFruitless = 16;

}  // namespace

void ArmTree::Open(NodeId id) {
  arms_[id].gen_closed = false;
  arms_[id].fruitless = 0;
  while (arms_[id].closed) {
    arms_[id].closed = false;
    if (id == kRoot) return;
    id = tree_[id].parent;
    ++arms_[id].open_children;
  }
}

void ArmTree::CloseFinished(NodeId id) {
  while (true) {
    Arms& at = arms_[id];
    if (!at.closed && at.gen_closed && at.open_children == 0) {
      at.closed = true;
      if (id != kRoot) --arms_[tree_[id].parent].open_children;
    }
    if (id == kRoot) return;
    id = tree_[id].parent;
  }
}

void ArmTree::Observe(NodeId from, NodeId end, double score) {
  if (arms_.size() < tree_.size()) arms_.resize(tree_.size());
  const float value = static_cast<float>(score);
  for (NodeId id = end; id != from; id = tree_[id].parent) {
    const NodeId parent = tree_[id].parent;
    const bool is_new = !observed(id);
    AddVisit(tree_[id], value);
    arms_[id].self.Add(score);
    arms_[parent].gen.Add(score);
    if (!is_new) {
      Arms& at = arms_[parent];
      at.fruitless = patience_ == 0 ? 0 : at.fruitless + 1;
      at.gen_closed |= patience_ > 0 && at.fruitless >= patience_;
      continue;
    }
    if (tree_[id].terminal()) {
      arms_[id].closed = true;
    } else {
      ++arms_[parent].open_children;
    }
    Open(parent);
  }
  for (NodeId id = from; id != kRoot; id = tree_[id].parent) {
    AddVisit(tree_[id], value);
    arms_[id].self.Add(score);
    arms_[tree_[id].parent].cont.Add(score);
  }
  AddVisit(tree_[kRoot], value);
  CloseFinished(tree_[end].parent);
}

void ArmTree::ObserveNothing(NodeId from, bool for_good) {
  Arms& at = arms_[from];
  ++at.fruitless;
  at.gen_closed |= patience_ == 0 ? for_good || at.fruitless >= kFruitless
                                  : at.fruitless >= patience_;
  CloseFinished(from);
}

}  // namespace espalier
