#include "search/refine/refine_tree.h"

#include <algorithm>
#include <cmath>

namespace espalier {

int RefineTree::Add(int parent, NodeId end, float reward) {
  answers_.push_back({.end = end, .parent = parent});
  stamps_.push_back(0);
  if (parent >= 0) {
    ++at(parent).children;
    at(size() - 1).before = at(parent).last_child;
    at(parent).last_child = size() - 1;
  }
  Reward(size() - 1, reward);
  return size() - 1;
}

void RefineTree::Reward(int answer, float reward) {
  Answer& a = at(answer);
  a.lowest = a.rewards == 0 ? reward : std::min(a.lowest, reward);
  a.sum += reward;
  ++a.rewards;
  a.q = (a.lowest + a.sum / static_cast<float>(a.rewards)) / 2;
  BackUp(answer);
}

void RefineTree::BackUp(int answer) {
  ++at(answer).visits;
  for (int up = at(answer).parent; up >= 0; up = at(up).parent) {
    Answer& a = at(up);
    ++a.visits;
    float best = -INFINITY;
    for (int child = a.last_child; child >= 0; child = at(child).before) {
      best = std::max(best, at(child).q);
    }
    a.improved |= best > a.q;
    a.q = (a.q + best) / 2;
  }
  // What is above decides about what is below: children of all that changed.
  for (int up = answer; up >= 0; up = at(up).parent) {
    Enter(up);
    for (int c = at(up).last_child; c >= 0; c = at(c).before) Enter(c);
  }
}

void RefineTree::Enter(int answer) {
  const uint32_t stamp = ++stamps_[static_cast<size_t>(answer)];
  if (!Closed(answer)) queue_.push({Ucb(answer), answer, stamp});
}

float RefineTree::Ucb(int answer) const {
  const Answer& a = (*this)[answer];
  const float above =
      static_cast<float>(a.parent >= 0 ? (*this)[a.parent].visits : a.visits);
  return a.q + c_ * std::sqrt(std::log(above + 1) /
                              (static_cast<float>(a.visits) + 1e-5f));
}

int RefineTree::Select() {
  while (!queue_.empty()) {
    const Waiting& top = queue_.top();
    if (top.stamp == stamps_[static_cast<size_t>(top.answer)]) {
      return top.answer;
    }
    queue_.pop();
  }
  return -1;
}

}  // namespace espalier
