#include "search/choose.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace espalier {
namespace {

// The finished response at the end of the most visited path, or kNoNode.
NodeId MostVisitedEnd(const Tree& tree) {
  NodeId node = kRoot;
  while (!tree[node].terminal()) {
    NodeId next = kNoNode;
    for (const NodeId c : Children(tree, node)) {
      if (tree[c].visits == 0) continue;
      if (next == kNoNode || tree[c].visits > tree[next].visits) next = c;
    }
    if (next == kNoNode) return kNoNode;
    node = next;
  }
  return node;
}

}  // namespace

bool ComesFirst(const Tree& tree, NodeId a, NodeId b) {
  while (tree.step(a).depth > tree.step(b).depth) a = tree[a].parent;
  while (tree.step(b).depth > tree.step(a).depth) b = tree[b].parent;
  while (tree[a].parent != tree[b].parent) {
    a = tree[a].parent;
    b = tree[b].parent;
  }
  return a < b;
}

Votes::Group& Votes::GroupOf(int32_t answer) {
  const size_t key = static_cast<size_t>(answer + 1);
  if (group_of_.size() <= key) group_of_.resize(key + 1, -1);
  if (group_of_[key] < 0) {
    group_of_[key] = static_cast<int32_t>(groups_.size());
    groups_.push_back({.answer = answer});
  }
  return groups_[static_cast<size_t>(group_of_[key])];
}

double Votes::Weight(const Group& group) const {
  if (group.answer < 0) return -1;
  switch (choice_) {
    case AnswerChoice::kFirst:
      return 0;
    case AnswerChoice::kMajority:
    case AnswerChoice::kMajorityOfTree:
      return group.count;
    case AnswerChoice::kBest:
    case AnswerChoice::kVisits:
      return group.best_score;
    case AnswerChoice::kWeighted:
      return group.sum;
    case AnswerChoice::kLowerBound: {
      const double spread =
          group.count < 2 ? 0.5 : std::sqrt(group.squares / (group.count - 1));
      // Scores are in [0, 1]: the result is never below "no answer".
      return group.mean - spread / std::sqrt(group.count) + 1;
    }
  }
  return 0;
}

void Votes::AddAt(SearchContext& ctx, NodeId node, float score, int64_t place) {
  Group& group = GroupOf(ctx.AnswerOf(node));
  if (group.best == kNoNode || score > group.best_score ||
      (score == group.best_score && place < group.best_at)) {
    group.best = node;
    group.best_score = score;
    group.best_at = place;
  }
  if (group.first == kNoNode) group.first = node;
  if (group.count == 0 || place < group.first_at) group.first_at = place;
  gaps_ |= place != added_;
  ++added_;
  group.count += 1;
  group.sum += score;
  const double off = score - group.mean;
  group.mean += off / group.count;
  group.squares += off * (score - group.mean);
  const bool counts = choice_ == AnswerChoice::kMajority ||
                      choice_ == AnswerChoice::kMajorityOfTree;
  if (group.answer >= 0) {
    ++responses_;
    total_ += counts ? 1 : score;
  }
  if (choice_ == AnswerChoice::kMajorityOfTree) {
    CountTree(ctx);
  } else {
    Rank(static_cast<size_t>(&group - groups_.data()));
  }
}

void Votes::Rank(size_t changed) {
  const auto ahead = [&](size_t a, size_t b) {
    const double x = Weight(groups_[a]), y = Weight(groups_[b]);
    if (x != y) return x > y;
    // Ties go to the earlier one.
    return ByBest() ? groups_[a].best_at < groups_[b].best_at
                    : groups_[a].first_at < groups_[b].first_at;
  };
  if (choice_ == AnswerChoice::kLowerBound) {
    // The only weight that can decrease.
    winner_ = 0;
    for (size_t i = 1; i < groups_.size(); ++i) {
      if (ahead(i, winner_)) winner_ = i;
    }
    return;
  }
  if (changed == winner_) return;
  if (ahead(changed, winner_)) {
    second_ = winner_;
    winner_ = changed;
  } else if (second_ == winner_ || ahead(changed, second_)) {
    second_ = changed;
  }
}

void Votes::CountTree(SearchContext& ctx) {
  if (choice_ != AnswerChoice::kMajorityOfTree) return;
  const Tree& tree = ctx.tree();
  for (; counted_ < tree.size(); ++counted_) {
    const Node& node = tree[counted_];
    if (!node.terminal() || node.truncated()) continue;
    Group& group = GroupOf(ctx.AnswerOf(counted_));
    if (group.first == kNoNode || ComesFirst(tree, counted_, group.first)) {
      group.first = counted_;
    }
    group.count += 1;
    total_ += group.answer >= 0 ? 1 : 0;
  }
  const auto ahead = [&](const Group& a, const Group& b) {
    const double x = Weight(a), y = Weight(b);
    return x > y || (x == y && ComesFirst(tree, a.first, b.first));
  };
  winner_ = 0;
  for (size_t i = 1; i < groups_.size(); ++i) {
    if (ahead(groups_[i], groups_[winner_])) winner_ = i;
  }
  second_ = winner_;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (i == winner_) continue;
    if (second_ == winner_ || ahead(groups_[i], groups_[second_])) second_ = i;
  }
}

AnswerSupport Votes::SupportOf(const Group& winner) const {
  AnswerSupport support{.responses = responses_, .bound = bound_};
  support.leader = Weight(winner);
  if (second_ != winner_) {
    support.runner_up = std::max(0.0, Weight(groups_[second_]));
  }
  // An answer that has no vote yet comes last.
  support.wins_ties =
      !gaps_ && (ByBest() || winner.first_at <= groups_[second_].first_at);
  switch (choice_) {
    case AnswerChoice::kMajority:
    case AnswerChoice::kWeighted:
      support.confidence = total_ > 0 ? support.leader / total_ : 0;
      support.most_added = 1;
      break;
    case AnswerChoice::kMajorityOfTree:
      // A simulation may produce any number of responses.
      support.confidence = total_ > 0 ? support.leader / total_ : 0;
      break;
    case AnswerChoice::kFirst:
      support.leader = 1;
      if (!gaps_) support.most_added = 0;
      break;
    case AnswerChoice::kBest:
      support.confidence = winner.best_score;
      // No score is higher, and ties go to the first.
      if (support.leader >= 1 && !gaps_) support.most_added = 0;
      break;
    case AnswerChoice::kLowerBound:
      support.confidence = support.leader - 1;
      break;
    case AnswerChoice::kVisits:
      support.confidence = winner.best_score;
      break;
  }
  support.confidence = std::clamp(support.confidence, 0.0, 1.0);
  return support;
}

void Votes::Offer(SearchContext& ctx) const {
  ESP_CHECK(!groups_.empty());
  if (choice_ == AnswerChoice::kVisits) {
    const NodeId end = MostVisitedEnd(ctx.tree());
    if (end != kNoNode && ctx.AnswerOf(end) >= 0) {
      const float q = ctx.tree()[end].q;
      AnswerSupport support{.responses = responses_, .bound = bound_};
      support.confidence = std::clamp(q, 0.0f, 1.0f);
      ctx.OfferAnswer(end, ctx.AnswerOf(end), q, support);
      return;
    }
  }
  const Group& winner = groups_[winner_];
  const bool first = choice_ == AnswerChoice::kMajorityOfTree;
  ctx.OfferAnswer(first ? winner.first : winner.best, winner.answer,
                  static_cast<float>(Weight(winner)), SupportOf(winner));
}

}  // namespace espalier
