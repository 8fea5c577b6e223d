#include "models/reward/reward_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

RewardFormat Squashed(RewardSquash squash, int labels, int label) {
  RewardFormat format;
  format.squash = squash;
  format.labels = labels;
  format.label = label;
  return format;
}

TEST(RewardHeadTest, TwoLayersHaveReluBetween) {
  RewardHead head;
  head.layers.push_back({.outputs = 2,
                         .inputs = 3,
                         .weight = {1, 0, -1, 2, 1, 0},
                         .bias = {0.5f, -1}});
  head.layers.push_back(
      {.outputs = 1, .inputs = 2, .weight = {3, -2}, .bias = {}});
  // (1 - 3 + .5 = -1.5 -> 0, 2 + 2 - 1 = 3) -> -6
  const std::vector<float> x = {1, 2, 3};
  EXPECT_EQ(head.Apply(x), std::vector<double>{-6});
  // (5 - 1 + .5 = 4.5, 10 + 0 - 1 = 9) -> 13.5 - 18
  const std::vector<float> y = {5, 0, 1};
  EXPECT_EQ(head.Apply(y), std::vector<double>{-4.5});
}

TEST(RewardHeadTest, SquashesAsPublished) {
  const std::vector<double> three = {std::log(1.0), std::log(2.0),
                                     std::log(5.0)};
  const auto value = [&](RewardSquash squash, size_t labels, int label) {
    return RewardValue(Squashed(squash, static_cast<int>(labels), label),
                       absl::MakeConstSpan(three).first(labels));
  };
  EXPECT_NEAR(value(RewardSquash::kSum, 3, 0), 7.0 / 8, 1e-12);
  EXPECT_NEAR(value(RewardSquash::kSoftmax, 3, 2), 5.0 / 8, 1e-12);
  EXPECT_NEAR(value(RewardSquash::kSoftmax, 2, 0), 1.0 / 3, 1e-12);
  EXPECT_NEAR(value(RewardSquash::kDifference, 2, 0), 1.0 / 3, 1e-12);
  EXPECT_NEAR(value(RewardSquash::kSigmoid, 2, 1), 2.0 / 3, 1e-12);
  EXPECT_NEAR(value(RewardSquash::kNone, 2, 1), std::log(2.0), 1e-12);
  RewardFormat two = Squashed(RewardSquash::kSigmoid, 2, 0);
  two.path_label = 1;
  const absl::Span<const double> outputs = absl::MakeConstSpan(three).first(2);
  EXPECT_NEAR(RewardValue(two, outputs), 1.0 / 2, 1e-12);
  EXPECT_NEAR(PathValue(two, outputs), 2.0 / 3, 1e-12);
  // Large outputs do not overflow.
  EXPECT_EQ(RewardValue(Squashed(RewardSquash::kSoftmax, 2, 1), {0.0, 2000.0}),
            1);
}

TEST(RewardHeadTest, SearchScoresAreProbabilitiesInTheSameOrder) {
  RewardFormat format;
  format.range = RewardRange::kProbability;
  EXPECT_EQ(SearchScore(format, 0.3), 0.3);
  format.range = RewardRange::kSigned;
  EXPECT_EQ(SearchScore(format, -1), 0);
  EXPECT_EQ(SearchScore(format, 0.5), 0.75);
  format.range = RewardRange::kReal;
  EXPECT_EQ(SearchScore(format, 0), 0.5);
  EXPECT_NEAR(SearchScore(format, std::log(3.0)), 0.75, 1e-12);
}

TEST(RewardHeadTest, ReadsTheTensorsOfAFolder) {
  const RewardCheckpoint model = WriteRewardCheckpoint("qwen_prm", 3);
  const auto head =
      ReadRewardHead(*ReadRewardFormat("qwen_prm"),
                     *ReadRewardFolder(model.folder), model.hidden_size);
  ASSERT_TRUE(head.ok()) << head.status();
  ASSERT_EQ(head->layers.size(), 2u);
  EXPECT_EQ(head->layers[0].weight, model.head.at("score.0.weight"));
  EXPECT_EQ(head->layers[1].bias, model.head.at("score.2.bias"));
  const auto other =
      ReadRewardHead(*ReadRewardFormat("qwen_prm"),
                     *ReadRewardFolder(model.folder), model.hidden_size + 1);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RewardHeadTest, OptionalBiasMayBeMissing) {
  const RewardCheckpoint model = WriteRewardCheckpoint("minos", 3);
  const auto head =
      ReadRewardHead(*ReadRewardFormat("minos"),
                     *ReadRewardFolder(model.folder), model.hidden_size);
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_TRUE(head->layers[0].bias.empty());
}

}  // namespace
}  // namespace espalier
