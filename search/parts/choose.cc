#include "search/parts/choose.h"

#include "src/base/check.h"

namespace espalier {

void Votes::Add(SearchContext& ctx, NodeId node, float score) {
  all_.push_back({node, ctx.AnswerOf(node), score});
}

void Votes::Offer(SearchContext& ctx, AnswerChoice choice) const {
  ESP_CHECK(!all_.empty());
  // Weight of each answer; index 0 stands for "none", which never outweighs.
  const size_t groups = static_cast<size_t>(ctx.tree().num_answers()) + 1;
  std::vector<double> weight(groups, -1);
  std::vector<const Vote*> best(groups, nullptr);
  std::vector<size_t> order;  // groups by first appearance
  for (const Vote& vote : all_) {
    const size_t group = static_cast<size_t>(vote.answer + 1);
    if (best[group] == nullptr) order.push_back(group);
    if (best[group] == nullptr || vote.score > best[group]->score) {
      best[group] = &vote;
    }
    if (group == 0) continue;
    if (weight[group] < 0) weight[group] = 0;
    switch (choice) {
      case AnswerChoice::kFirst:
        break;
      case AnswerChoice::kMajority:
        weight[group] += 1;
        break;
      case AnswerChoice::kBest:
        weight[group] = best[group]->score;
        break;
      case AnswerChoice::kWeighted:
        weight[group] += vote.score;
        break;
    }
  }
  size_t winner = order[0];
  for (const size_t group : order) {
    if (weight[group] > weight[winner]) winner = group;
  }
  const float share = static_cast<float>(weight[winner]);
  ctx.OfferAnswer(best[winner]->node, best[winner]->answer, share);
}

}  // namespace espalier
