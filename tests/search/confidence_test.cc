#include "search/parts/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
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

// Steps of 1, 2 and 1 tokens with log-probs -1, -1 and -4.
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

TEST(ConfidenceTest, ThresholdIsAnInterpolatedPercentile) {
  const std::vector<double> c = {0.1, 0.5, 0.9, 0.5, 0.3};
  EXPECT_EQ(ConfidenceThreshold(c, 100), 0.1);
  EXPECT_NEAR(ConfidenceThreshold(c, 80), 0.26, 1e-12);  // .8 of .1 to .3
  EXPECT_EQ(ConfidenceThreshold(c, 75), 0.3);
  EXPECT_EQ(ConfidenceThreshold(c, 50), 0.5);
  EXPECT_EQ(ConfidenceThreshold(c, 40), 0.5);            // between equals
  EXPECT_NEAR(ConfidenceThreshold(c, 10), 0.74, 1e-12);  // .6 of .5 to .9
  EXPECT_EQ(ConfidenceThreshold(c, 0), 0.9);
  EXPECT_EQ(ConfidenceThreshold({0.7}, 10), 0.7);
}

TEST(ConfidenceTest, GroupsAreWindowsOfTokens) {
  TokenGroups groups(2);
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kMean, 1), 0);
  groups.Add(std::vector<float>{1});
  EXPECT_EQ(groups.LowestGroup(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kLowest, 1), 1);
  groups.Add(std::vector<float>{3, 2});
  groups.Add(std::vector<float>{6});
  EXPECT_EQ(groups.LowestGroup(), 2);  // 1 3 | 3 2 | 2 6
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kLowest, 1), 2);
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kBottom, 1), 2);
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kMean, 1), 3);
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kTail, 2), 4);
  EXPECT_EQ(groups.Confidence(ConfidenceOf::kTail, 9), 3);
  EXPECT_EQ(groups.LowestUnrounded(), 2);
  EXPECT_EQ(groups.OnlineConfidence(), 2);
  // Online, group means are rounded to thousandths, halves to even: 1.0015 and
  // 1.0024. An unfinished response is judged by its unrounded values.
  TokenGroups fine(2);
  fine.Add(std::vector<float>{1.001f, 1.002f, 1.0028f});
  EXPECT_NEAR(fine.LowestGroup(), 1.0015, 1e-12);
  EXPECT_EQ(fine.OnlineConfidence(), 1.002);
  EXPECT_NEAR(fine.LowestUnrounded(), 1.0015, 1e-6);
  TokenGroups low(1);
  low.Add(std::vector<float>{1.0004f});
  EXPECT_EQ(low.OnlineConfidence(), 1);
  EXPECT_NEAR(low.LowestUnrounded(), 1.0004, 1e-6);
  // The lowest two of 20.
  TokenGroups single(1);
  for (int i = 20; i > 0; --i) {
    single.Add(std::vector<float>{static_cast<float>(i) / 20});
  }
  EXPECT_NEAR(single.Confidence(ConfidenceOf::kBottom, 1), 0.075, 1e-12);
}

// All groups of this response have the same sum, halfway between two
// thousandths.
TEST(ConfidenceTest, ManyGroupsThatAreLowestCostLittleMore) {
  const auto took = [](float other, double* confidence) {
    TokenGroups groups(2048);
    std::vector<float> tokens;
    for (int i = 0; i < 1'000'000; ++i) {
      tokens.push_back(i % 2 == 0 ? 1.001f : other);
    }
    groups.Add(tokens);
    const auto start = std::chrono::steady_clock::now();
    *confidence = groups.OnlineConfidence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  double halfway = 0, exact = 0;
  const double once = took(1.002f, &halfway);
  took(1.003f, &exact);
  EXPECT_EQ(exact, 1.002);
  EXPECT_TRUE(halfway == 1.001 || halfway == 1.002) << halfway;
  // 2048 additions for each of a million groups take seconds.
  EXPECT_LT(once, 0.5);
}

// One response with the policy's confidences.
struct ConfidentResponse {
  int leaf = 0;
  double log_p = 0;
  int steps = 0;
  std::vector<double> tokens;  // one per step
  // The lowest mean of two neighbouring tokens.
  double lowest = 0;
  double online = 0;  // the same, rounded to thousandths
};

double InThousandths(double x) { return std::nearbyint(x * 1000) / 1000; }

// The confidence that the world returns for a token drawn at `place`.
double Told(const TreeWorld& world, int place) {
  double sum = 0;
  for (const float l : world[place].logprobs) sum -= static_cast<double>(l);
  return static_cast<double>(static_cast<float>(
      sum / static_cast<double>(world[place].logprobs.size())));
}

// Returns nothing if it stops early, at the first pair of tokens with unrounded
// confidence below `floor`.
std::optional<ConfidentResponse> Write(const TreeWorld& world,
                                       ReferenceWorld& plain,
                                       double floor = 0) {
  ConfidentResponse r;
  double last = 0;
  while (!plain.Leaf(r.leaf)) {
    const double before = std::exchange(last, Told(world, r.leaf));
    r.tokens.push_back(InThousandths(last));
    r.leaf = plain.Next(r.leaf, 1);
    r.log_p += plain.LogProb(r.leaf);
    ++r.steps;
    const size_t n = r.tokens.size();
    if (n < 2) continue;
    if ((before + last) / 2 < floor - 1e-6) return std::nullopt;
    const double pair = (r.tokens[n - 2] + r.tokens[n - 1]) / 2;
    r.lowest = n == 2 ? pair : std::min(r.lowest, pair);
    const double online = InThousandths(pair);
    r.online = n == 2 ? online : std::min(r.online, online);
  }
  if (r.steps == 1) r.lowest = r.online = r.tokens[0];
  return r;
}

// Percentile 100 - eta of the lowest pairs.
double Percentile(const std::vector<ConfidentResponse>& all, double eta,
                  double ConfidentResponse::*lowest) {
  std::vector<double> sorted;
  for (const ConfidentResponse& r : all) sorted.push_back(r.*lowest);
  std::sort(sorted.begin(), sorted.end());
  const double place =
      (100 - eta) / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] +
         (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
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
      const int leaf = Write(world, plain)->leaf;
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
      const ConfidentResponse r = *Write(world, again);
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
  int filtered = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed, .depth = 4, .early_leaf = 0.3});
    const SearchRun run =
        RunSearch("deepconf:n=15:eta=40:window=2:of=lowest", world);
    ReferenceWorld plain(world, run);
    std::vector<ConfidentResponse> all;
    for (int i = 0; i < 15; ++i) all.push_back(*Write(world, plain));
    const double threshold = Percentile(all, 40, &ConfidentResponse::lowest);
    std::vector<std::pair<int, float>> votes;
    for (const ConfidentResponse& r : all) {
      if (r.lowest < threshold - 1e-9) continue;
      votes.push_back({r.leaf, static_cast<float>(r.lowest)});
    }
    filtered += votes.size() < all.size();
    EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed;
    EXPECT_EQ(run.usage.tokens, plain.tokens());
  }
  EXPECT_GT(filtered, 12);
}

TEST(DeepConfTest, OnlineGivesUpAsAPlainLoopDoes) {
  int given_up = 0, agreed = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed, .depth = 4, .early_leaf = 0.3});
    const SearchRun run = RunSearch(
        "deepconf:n=40:online=true:warmup=8:eta=50:consensus=0.6:window=2",
        world);
    ReferenceWorld plain(world, run);
    std::vector<ConfidentResponse> all;
    int64_t drawn = 0;
    for (; drawn < 8; ++drawn) all.push_back(*Write(world, plain));
    const double floor = Percentile(all, 50, &ConfidentResponse::online);
    std::vector<std::pair<int, float>> votes;
    std::map<int, double> sums;
    double total = 0, top = 0;
    const auto vote = [&](const ConfidentResponse& r) {
      if (r.online < floor - 1e-9) return;
      votes.push_back({r.leaf, static_cast<float>(r.online)});
      total += r.online;
      top = std::max(top, sums[r.leaf] += r.online);
    };
    for (const ConfidentResponse& r : all) vote(r);
    for (; drawn < 40 && top / total < 0.6; ++drawn) {
      if (const auto r = Write(world, plain, floor)) {
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

TEST(DeepConfTest, WithoutAFilterTheMajorityIsThatOfAll) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed});
    EXPECT_EQ(RunSearch("deepconf:n=20:eta=100:vote=majority", world).answer,
              RunSearch("majority:n=20", world).answer);
  }
}

TEST(DeepConfTest, AConsensusOfOneEndsNothing) {
  // One leaf: all responses agree from the start.
  const TreeWorld world({.branching = 1, .depth = 2});
  RunLimits limits;
  limits.reply = [&world](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    for (SampledStep& sample : reply.samples) sample.confidences = {2};
    return reply;
  };
  const auto tokens = [&](const char* consensus) {
    return RunSearch(absl::StrCat("deepconf:n=20:online=true:warmup=4:"
                                  "consensus=",
                                  consensus),
                     world, limits)
        .usage.tokens;
  };
  EXPECT_EQ(tokens("1"), 40);
  EXPECT_EQ(tokens("0.99"), 8);
}

TEST(DeepConfTest, AModelWithoutTopTokensIsRefused) {
  const TreeWorld world({.seed = 4});
  RunLimits limits;
  limits.reply = [&world](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    for (SampledStep& sample : reply.samples) sample.confidences.clear();
    return reply;
  };
  const SearchRun run = RunSearch("deepconf:n=4", world, limits);
  EXPECT_EQ(run.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(run.status.message(), "most likely"));
}

}  // namespace
}  // namespace espalier
