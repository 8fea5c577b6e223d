// MUR's momentum uncertainty and phi-Decoding's foresight sampling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "search/sampling/foresight.h"
#include "search/sampling/momentum.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using VoteList = std::vector<std::pair<int, float>>;

TEST(MomentumTest, AveragesExponentiallyFromZero) {
  Momentum momentum(0.9, 0.9);
  momentum.Add(1);
  EXPECT_NEAR(momentum.value(), 0.1, 1e-12);
  momentum.Add(2);
  EXPECT_NEAR(momentum.value(), 0.29, 1e-12);  // .9 * .1 + .1 * 2
}

TEST(MomentumTest, ComparesPerplexities) {
  Momentum momentum(0.5, 0.5);
  EXPECT_FALSE(momentum.Exceeded(100));  // the first step
  momentum.Add(2 * std::log(3.0));       // M = ln 3: the limit is 3 / .5 = 6
  EXPECT_FALSE(momentum.Exceeded(std::log(5.9)));
  EXPECT_TRUE(momentum.Exceeded(std::log(6.1)));
  Momentum never(0.5, 0);
  never.Add(0);
  EXPECT_FALSE(never.Exceeded(50));
}

int PlainMur(ReferenceWorld& plain, int candidates, bool reward) {
  int place = 0;
  double momentum = 0;
  for (int step = 0; !plain.Leaf(place); ++step) {
    int best = plain.Next(place, 1);
    if (step > 0 && -plain.LogProb(best) > momentum - std::log(0.9f)) {
      for (int i = 1; i < candidates; ++i) {
        const int other = plain.Next(place, 1);
        if (reward ? plain.Score(other) > plain.Score(best)
                   : plain.LogProb(other) > plain.LogProb(best)) {
          best = other;
        }
      }
    }
    momentum = 0.9f * momentum - (1 - double{0.9f}) * plain.LogProb(best);
    place = best;
  }
  return place;
}

TEST(MurTest, ScalesUncertainStepsAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed,
                           .depth = 5,
                           .early_leaf = 0.2,
                           .scores = Scores::kNoisy});
    for (const bool reward : {true, false}) {
      const SearchRun run =
          RunSearch(reward ? "mur:n=5:choice=majority"
                           : "mur:by=likelihood:n=5:choice=majority",
                    world);
      ReferenceWorld plain(world, run);
      VoteList votes;
      for (int i = 0; i < 5; ++i) {
        votes.push_back({PlainMur(plain, 4, reward), 1.0f});
      }
      EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed << reward;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

TEST(MurTest, AfterSoManyStepsNothingIsTested) {
  const TreeWorld world({.seed = 3, .depth = 6});
  const char* method = "mur:by=likelihood:n=5:gamma=1:max_steps=";
  // The first step is never tested.
  EXPECT_EQ(RunSearch(absl::StrCat(method, 1), world).usage.tokens, 5 * 6);
  EXPECT_GT(RunSearch(absl::StrCat(method, 2), world).usage.tokens, 5 * 6);
}

TEST(MurTest, OneCandidateIsPlainSampling) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed});
    EXPECT_EQ(
        RunSearch("mur:by=likelihood:n=7:candidates=1:choice=majority", world)
            .tree_text,
        RunSearch("majority:n=7", world).tree_text);
    EXPECT_EQ(RunSearch("mur:by=likelihood:n=7:gamma=0:choice=majority", world)
                  .tree_text,
              RunSearch("majority:n=7", world).tree_text);
  }
}

TEST(ForesightTest, WidthKeepsWhatIsNotFarBelowTheMean) {
  // Mean -2, standard deviation sqrt(1.6).
  const std::vector<double> x = {-1, -1, -1, -4, -3};
  EXPECT_EQ(AboveWidth(x, 1), (std::vector<size_t>{0, 1, 2, 4}));
  EXPECT_EQ(AboveWidth(x, 0.5), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(AboveWidth(x, 0), (std::vector<size_t>{0, 1, 2}));
  // Equal values are not above their mean.
  EXPECT_TRUE(AboveWidth({-2, -2}, 1).empty());
}

TEST(ForesightTest, WhatWidthIsShortOfIsDrawnByLikelihood) {
  const std::vector<double> x = {-1, -1, -1, -4, -3};
  int third = 0;
  constexpr int kTrials = 20000;
  for (uint64_t i = 0; i < kTrials; ++i) {
    RandomStream random(StreamKey(i, 0, 0, Purpose::kTest));
    const std::vector<size_t> kept = PruneWidth(x, 0.5, 4, 1, random);
    ASSERT_EQ(kept.size(), 4u);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    EXPECT_TRUE(kept[3] == 3 || kept[3] == 4);
    third += kept[3] == 3;
  }
  // exp(-4) : exp(-3).
  const double p = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(third, kTrials * p, 5 * std::sqrt(kTrials * p * (1 - p)));
  // No draw if enough remain.
  RecordedDraws none;
  RandomStream random(&none);
  EXPECT_EQ(PruneWidth(x, 0.5, 3, 1, random), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(none.next, 0u);
}

TEST(ForesightTest, EqualOutcomesAreAClusterAndTheLastTakesTheRest) {
  const std::vector<std::string> x = {"a", "b", "a", "c", "d", "a"};
  EXPECT_EQ(Clusters(x, 9), (std::vector<size_t>{0, 1, 0, 2, 3, 0}));
  EXPECT_EQ(Clusters(x, 2), (std::vector<size_t>{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(ClusterShares({0, 1, 0, 0}),
            (std::vector<double>{0.75, 0.25, 0.75, 0.75}));
  EXPECT_EQ(LargestCluster({0, 1, 0, 2}), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(LargestCluster({0, 1, 1, 0}), (std::vector<size_t>{1, 2}));
}

TEST(ForesightTest, JointIsTheMeanOfTwoSoftmaxes) {
  // Advantages ln 3 * tau apart: 3/4 and 1/4. Shares ln 2 apart: 2/3 and 1/3.
  const double tau = 0.1;
  const auto w =
      JointWeights({tau * std::log(3.0), 0}, {std::log(2.0), 0}, tau);
  EXPECT_NEAR(w[0], (3.0 / 4 + 2.0 / 3) / 2, 1e-12);
  EXPECT_NEAR(w[1], (1.0 / 4 + 1.0 / 3) / 2, 1e-12);
}

TEST(PhiTest, AgreementEndsForesight) {
  const TreeWorld world({.seed = 5, .depth = 6});
  // Any share exceeds 0: no foresight after the second step.
  const SearchRun early = RunSearch("phi:stop=0:least=1:rounds=1", world);
  const SearchRun never = RunSearch("phi:stop=2:least=8:rounds=1", world);
  EXPECT_LT(early.usage.tokens, never.usage.tokens);
  EXPECT_FALSE(early.answer.empty());
}

}  // namespace
}  // namespace espalier
