#include "search/refine/refine_tree.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

void Remove(std::vector<int>& from, int what) {
  from.erase(std::remove(from.begin(), from.end(), what), from.end());
}

}  // namespace

int RefineTree::Add(int parent, NodeId end, double reward) {
  const auto [known, is_new] = of_end_.try_emplace(end, size());
  const int answer = known->second;
  if (is_new) {
    answers_.push_back({.end = end});
    stamps_.push_back(0);
  }
  for (const int rewrite : at(answer).rewrites) {
    Remove(at(rewrite).listed_in, answer);
  }
  at(answer).rewrites.clear();
  if (at(answer).parent >= 0) {
    touched_.push_back(at(answer).parent);
    Remove(at(at(answer).parent).children, answer);
  }
  at(answer).parent = parent;
  if (parent >= 0) {
    touched_.push_back(parent);
    at(parent).children.push_back(answer);
    at(parent).rewrites.push_back(answer);
    at(answer).listed_in.push_back(parent);
  }
  Reward(answer, reward);
  return answer;
}

void RefineTree::Reward(int answer, double reward) {
  Answer& a = at(answer);
  a.lowest = a.rewards == 0 ? reward : std::min(a.lowest, reward);
  a.sum += reward;
  ++a.rewards;
  a.q = (a.lowest + a.sum / a.rewards) / 2;
  touched_.push_back(answer);
}

void RefineTree::Update() {
  std::vector<int> changed;
  for (const int t : touched_) {
    const Answer& a = at(t);
    changed.push_back(t);
    if (a.parent >= 0) changed.push_back(a.parent);
    changed.insert(changed.end(), a.children.begin(), a.children.end());
    changed.insert(changed.end(), a.listed_in.begin(), a.listed_in.end());
  }
  touched_.clear();
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (const int answer : changed) Refresh(answer);
}

void RefineTree::Refresh(int answer) {
  Answer& a = at(answer);
  const bool over_a_leaf =
      std::any_of(a.children.begin(), a.children.end(),
                  [&](int child) { return at(child).children.empty(); });
  if (a.children.empty() || (over_a_leaf && a.rewrites.empty())) {
    a.ucb = Ucb(answer, a.q);
  } else if (over_a_leaf) {
    a.ucb = Ucb(answer, (a.q + BestRewrite(answer)) / 2);
  }
  const uint32_t stamp = ++stamps_[static_cast<size_t>(answer)];
  if (!Closed(answer)) queue_.push({a.ucb, answer, stamp});
}

double RefineTree::Ucb(int answer, double q) const {
  const Answer& a = (*this)[answer];
  const double above = a.parent >= 0 ? (*this)[a.parent].rewards : 0;
  return q + c_ * std::sqrt(std::log(above + 1) / (a.rewards + 1e-5));
}

double RefineTree::BestRewrite(int answer) const {
  double best = -INFINITY;
  for (const int rewrite : (*this)[answer].rewrites) {
    best = std::max(best, (*this)[rewrite].q);
  }
  return best;
}

bool RefineTree::Closed(int answer) const {
  const Answer& a = (*this)[answer];
  return static_cast<int>(a.rewrites.size()) >= children_ &&
         BestRewrite(answer) >= a.q;
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
