#include "search/refine/refine_tree.h"

#include <algorithm>
#include <cmath>

namespace espalier {

int RefineTree::Add(int parent, NodeId end, float reward) {
  answers_.push_back({.end = end, .parent = parent});
  if (parent >= 0) ++at(parent).children;
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
    for (const Answer& child : answers_) {
      if (child.parent == up) best = std::max(best, child.q);
    }
    a.improved |= best > a.q;
    a.q = (a.q + best) / 2;
  }
}

float RefineTree::Ucb(int answer) const {
  const Answer& a = (*this)[answer];
  const float above =
      static_cast<float>(a.parent >= 0 ? (*this)[a.parent].visits : a.visits);
  return a.q + c_ * std::sqrt(std::log(above + 1) /
                              (static_cast<float>(a.visits) + 1e-5f));
}

int RefineTree::Select() const {
  int best = -1;
  for (int i = 0; i < size(); ++i) {
    if (Closed(i)) continue;
    if (best < 0 || Ucb(i) > Ucb(best)) best = i;
  }
  return best;
}

}  // namespace espalier
