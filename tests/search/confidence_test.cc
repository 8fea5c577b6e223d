#include "search/parts/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "search/parts/logprob.h"
#include "search/sampling/confidence_filter.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

TEST(ConfidenceTest, CalibrationMovesLogOdds) {
  EXPECT_NEAR(Calibrate(0.8, 1, 0), 0.8, 1e-12);
  EXPECT_NEAR(Calibrate(0.8, 2, 0), 16.0 / 17, 1e-12);              // odds 4^2
  EXPECT_NEAR(Calibrate(0.8, 1, std::log(0.25)), 0.5, 1e-12);       // 4 / 4
  EXPECT_NEAR(Calibrate(0.8, 0.5, std::log(3.0)), 6.0 / 7, 1e-12);  // 2 * 3
}

TEST(ConfidenceTest, ScoresOfZeroAndOneAreCut) {
  EXPECT_NEAR(Logit(0), std::log(1e-6 / (1 - 1e-6)), 1e-9);
  EXPECT_NEAR(Logit(1), -Logit(0), 1e-6);
  EXPECT_EQ(Logit(0.5), 0);
  EXPECT_NEAR(Calibrate(1, 1, 0), 1 - 1e-6, 1e-12);
}

// Steps of 1, 2 and 1 tokens with ln p -1, -1 and -4.
struct SmallTree {
  SmallTree() {
    a = tree.Add(kRoot, {.text = "a", .tokens = one, .logprob = -1});
    b = tree.Add(a, {.text = "b", .tokens = two, .logprob = -1});
    c = tree.Add(b, {.text = "c", .tokens = one, .logprob = -4});
  }
  const std::vector<int32_t> one = {1}, two = {2, 3};
  Tree tree;
  NodeId a = 0, b = 0, c = 0;
};

TEST(ConfidenceTest, AveragesTokensNotSteps) {
  const SmallTree s;
  EXPECT_NEAR(MeanLogprob(s.tree, kRoot, s.c), -1.5, 1e-6);  // -6 / 4
  EXPECT_NEAR(MeanLogprob(s.tree, s.a, s.c), -5.0 / 3, 1e-6);
  EXPECT_EQ(MeanLogprob(s.tree, s.c, s.c), 0);
  EXPECT_NEAR(StepConfidence(s.tree.step(s.b)), std::exp(-0.5), 1e-6);
}

TEST(ConfidenceTest, EveryMeasureOfAPath) {
  const SmallTree s;
  const auto of = [&](ConfidenceOf measure) {
    return PathConfidence(s.tree, s.c, measure);
  };
  EXPECT_NEAR(of(ConfidenceOf::kMean), std::exp(-1.5), 1e-6);
  EXPECT_NEAR(of(ConfidenceOf::kLowest), std::exp(-4.0), 1e-6);
  EXPECT_NEAR(of(ConfidenceOf::kBottom), std::exp(-4.0), 1e-6);
  EXPECT_NEAR(of(ConfidenceOf::kTail), std::exp(-4.0), 1e-6);
  EXPECT_NEAR(PathConfidence(s.tree, s.b, ConfidenceOf::kLowest),
              std::exp(-1.0), 1e-6);
  EXPECT_EQ(PathConfidence(s.tree, kRoot, ConfidenceOf::kMean), 1);
}

TEST(ConfidenceTest, BottomIsTheMeanOfTheLowestTenth) {
  Tree tree;
  NodeId at = kRoot;
  const std::vector<int32_t> token = {1};
  for (int i = 1; i <= 20; ++i) {  // confidences .05, .10 ... 1
    at = tree.Add(at, {.text = "x",
                       .tokens = token,
                       .logprob = std::log(static_cast<float>(i) / 20)});
  }
  EXPECT_NEAR(PathConfidence(tree, at, ConfidenceOf::kBottom), 0.075, 1e-6);
}

TEST(ConfidenceTest, ThresholdKeepsTheTopPercentWithTies) {
  const std::vector<float> c = {0.1f, 0.5f, 0.9f, 0.5f, 0.3f};
  EXPECT_EQ(ConfidenceThreshold(c, 100), 0.1f);
  EXPECT_EQ(ConfidenceThreshold(c, 61), 0.3f);  // 4 of 5
  EXPECT_EQ(ConfidenceThreshold(c, 60), 0.5f);  // 3 of 5
  EXPECT_EQ(ConfidenceThreshold(c, 40), 0.5f);  // 2 of 5, the tie with it
  EXPECT_EQ(ConfidenceThreshold(c, 20), 0.9f);
  EXPECT_EQ(ConfidenceThreshold(c, 0), 0.9f);  // at least one
}

// One response, with its least sure step.
struct Response {
  int leaf = 0;
  double log_p = 0;
  int steps = 0;
  float lowest = 1;
};

// Stops at the first step less sure than `floor`; nothing then.
std::optional<Response> Write(ReferenceWorld& plain, float floor = 0) {
  Response r;
  while (!plain.Leaf(r.leaf)) {
    r.leaf = plain.Next(r.leaf, 1);
    r.log_p += plain.LogProb(r.leaf);
    ++r.steps;
    const float p = std::exp(static_cast<float>(plain.LogProb(r.leaf)));
    if (p < floor) return std::nullopt;
    r.lowest = std::min(r.lowest, p);
  }
  return r;
}

TEST(ConfidenceTest, VotesAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed,
                           .depth = 4,
                           .early_leaf = 0.3,
                           .scores = Scores::kNoisy});
    const SearchRun run =
        RunSearch("confidence:n=12:slope=2:offset=0.5:power=1.5", world);
    ReferenceWorld plain(world, run);
    std::vector<std::pair<int, float>> votes;
    for (int i = 0; i < 12; ++i) {
      const int leaf = Write(plain)->leaf;
      const double s = std::clamp<double>(plain.Score(leaf), 1e-6, 1 - 1e-6);
      const double odds = std::pow(s / (1 - s), 2) * std::exp(0.5);
      votes.push_back(
          {leaf, static_cast<float>(std::pow(odds / (1 + odds), 1.5))});
    }
    EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed;
    EXPECT_EQ(run.usage.tokens, plain.tokens());

    const SearchRun likely = RunSearch("confidence:by=likelihood:n=12", world);
    ReferenceWorld again(world, likely);
    votes.clear();
    for (int i = 0; i < 12; ++i) {
      const Response r = *Write(again);
      votes.push_back(
          {r.leaf, static_cast<float>(std::exp(r.log_p / r.steps))});
    }
    EXPECT_EQ(likely.answer, HighestSum(world, votes)) << seed;
    EXPECT_EQ(likely.usage.tokens, again.tokens());
  }
}

TEST(ConfidenceTest, UncalibratedIsWeightedAndPowerZeroIsMajority) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .scores = Scores::kNoisy});
    EXPECT_EQ(RunSearch("confidence:n=15", world).answer,
              RunSearch("weighted:n=15", world).answer);
    EXPECT_EQ(RunSearch("confidence:n=15:power=0", world).answer,
              RunSearch("majority:n=15", world).answer);
  }
}

TEST(DeepConfTest, FiltersAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed, .depth = 4, .early_leaf = 0.3});
    const SearchRun run = RunSearch("deepconf:n=15:eta=40", world);
    ReferenceWorld plain(world, run);
    std::vector<Response> all;
    for (int i = 0; i < 15; ++i) all.push_back(*Write(plain));
    std::vector<float> sorted;
    for (const Response& r : all) sorted.push_back(r.lowest);
    std::sort(sorted.rbegin(), sorted.rend());
    std::vector<std::pair<int, float>> votes;
    for (const Response& r : all) {
      if (r.lowest >= sorted[5])
        votes.push_back({r.leaf, r.lowest});  // 6 of 15
    }
    EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed;
    EXPECT_EQ(run.usage.tokens, plain.tokens());
  }
}

TEST(DeepConfTest, OnlineGivesUpAsAPlainLoopDoes) {
  int given_up = 0, agreed = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed, .depth = 4, .early_leaf = 0.3});
    const SearchRun run = RunSearch(
        "deepconf:n=40:online=true:warmup=8:eta=50:consensus=0.6", world);
    ReferenceWorld plain(world, run);
    std::vector<Response> all;
    int64_t drawn = 0;
    for (; drawn < 8; ++drawn) all.push_back(*Write(plain));
    std::vector<float> sorted;
    for (const Response& r : all) sorted.push_back(r.lowest);
    std::sort(sorted.rbegin(), sorted.rend());
    const float floor = sorted[3];
    std::vector<std::pair<int, float>> votes;
    std::map<int, double> sums;
    double total = 0, top = 0;
    const auto vote = [&](const Response& r) {
      votes.push_back({r.leaf, r.lowest});
      total += r.lowest;
      top = std::max(top, sums[r.leaf] += r.lowest);
    };
    for (const Response& r : all) {
      if (r.lowest >= floor) vote(r);
    }
    for (; drawn < 40 && top / total < 0.6f; ++drawn) {
      if (const auto r = Write(plain, floor)) {
        vote(*r);
      } else {
        ++given_up;
      }
    }
    agreed += drawn < 40;
    EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed;
    EXPECT_EQ(run.usage.tokens, plain.tokens());
  }
  EXPECT_GT(given_up, 0);
  EXPECT_GT(agreed, 0);
}

TEST(DeepConfTest, AllResponsesAreMajorityByConfidence) {
  const TreeWorld world({.seed = 4});
  EXPECT_EQ(RunSearch("deepconf:n=20:eta=100:of=mean", world).answer,
            RunSearch("confidence:by=likelihood:n=20", world).answer);
}

}  // namespace
}  // namespace espalier
