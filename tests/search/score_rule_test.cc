#include "search/tree/score_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

using testing::HasSubstr;

constexpr float kNone = StepScores::kNone;

// Scores of a path in one table: row by level, column by step.
std::vector<StepScores> Path(const std::map<Level, std::vector<float>>& rows) {
  std::vector<StepScores> path;
  for (const auto& [level, scores] : rows) {
    path.resize(scores.size());
    for (size_t i = 0; i < scores.size(); ++i) path[i][level] = scores[i];
  }
  return path;
}

struct Case {
  Aggregate aggregate;
  double expected;
};

TEST(ScoreRuleTest, OneLevelByHand) {
  const std::vector<StepScores> path =
      Path({{Level::kPath, {0.5f, 0.25f, 0.75f}},
            {Level::kOutcome, {0.5f, 1, 0.25f}}});
  for (const auto& [aggregate, expected] :
       {Case{Aggregate::kLast, 0.75}, Case{Aggregate::kMin, 0.25},
        Case{Aggregate::kProduct, 0.09375}, Case{Aggregate::kMean, 0.5},
        Case{Aggregate::kMax, 0.75}, Case{Aggregate::kSum, 1.5}}) {
    EXPECT_FLOAT_EQ(CombineScores(path, {Level::kPath, aggregate}, {}),
                    static_cast<float>(expected));
    // The level has no scores.
    EXPECT_TRUE(
        std::isnan(CombineScores(path, {Level::kWindow3, aggregate}, {})));
  }
  EXPECT_FLOAT_EQ(CombineScores(path, {Level::kOutcome, Aggregate::kMax}, {}),
                  1);
}

TEST(ScoreRuleTest, NoStepIsCertain) {
  for (const Aggregate aggregate :
       {Aggregate::kLast, Aggregate::kMin, Aggregate::kProduct,
        Aggregate::kMean, Aggregate::kMax, Aggregate::kWindow,
        Aggregate::kLearned}) {
    EXPECT_EQ(CombineScores({}, {Level::kPath, aggregate}, {}), 1);
  }
  EXPECT_EQ(CombineScores({}, {Level::kPath, Aggregate::kSum}, {}), 0);
}

// A wrong second step, corrected by the third: a window of two clears it, one
// that ends before the correction does not.
TEST(ScoreRuleTest, AWindowClearsAnErrorThatItCovers) {
  const std::vector<float> steps = {0.9f, 0.1f, 0.9f, 0.9f};
  const ScoreRule rule{Level::kPath, Aggregate::kWindow};
  EXPECT_FLOAT_EQ(
      CombineScores(Path({{Level::kStep, steps},
                          {Level::kWindow2, {0.9f, 0.1f, 0.8f, 0.9f}}}),
                    rule, {}),
      0.8f);
  EXPECT_FLOAT_EQ(
      CombineScores(Path({{Level::kStep, steps},
                          {Level::kWindow2, {0.9f, 0.1f, 0.2f, 0.9f}}}),
                    rule, {}),
      0.2f);
  // Steps 2 to 4 are a window of three.
  EXPECT_FLOAT_EQ(
      CombineScores(Path({{Level::kStep, steps},
                          {Level::kWindow3, {0.9f, 0.1f, 0.2f, 0.7f}}}),
                    rule, {}),
      0.7f);
  // Without windows the worst step counts.
  EXPECT_FLOAT_EQ(CombineScores(Path({{Level::kStep, steps}}), rule, {}), 0.1f);
}

// By the definitions in score_rule.h, written out.
double PlainRule(const std::vector<StepScores>& path, const ScoreRule& rule,
                 const LevelWeights& weights) {
  std::vector<double> s;
  for (const StepScores& scores : path) {
    s.push_back(static_cast<double>(scores[rule.level]));
  }
  const auto n = static_cast<int>(path.size());
  switch (rule.aggregate) {
    case Aggregate::kLast:
      return s.back();
    case Aggregate::kMin:
      return *std::min_element(s.begin(), s.end());
    case Aggregate::kMax:
      return *std::max_element(s.begin(), s.end());
    case Aggregate::kProduct: {
      double logs = 0;
      for (const double x : s) logs += std::log(x);
      return std::exp(logs);
    }
    case Aggregate::kMean:
      return std::accumulate(s.begin(), s.end(), 0.0) / n;
    case Aggregate::kSum:
      return std::accumulate(s.begin(), s.end(), 0.0);
    case Aggregate::kWindow: {
      // Every window clears the steps that it covers.
      std::vector<double> best;
      for (const StepScores& x : path) {
        best.push_back(static_cast<double>(x.step));
      }
      for (int e = 0; e < n; ++e) {
        for (int w = 2; w <= kMaxWindow; ++w) {
          const auto score = static_cast<double>(
              path[static_cast<size_t>(e)].windows[static_cast<size_t>(w - 2)]);
          for (int i = std::max(0, e - w + 1); i <= e; ++i) {
            double& at = best[static_cast<size_t>(i)];
            at = std::max(at, score);
          }
        }
      }
      return *std::min_element(best.begin(), best.end());
    }
    case Aggregate::kLearned: {
      double odds = std::exp(static_cast<double>(weights.bias));
      for (size_t l = 0; l < kLevels; ++l) {
        const auto p = static_cast<double>(path.back()[static_cast<Level>(l)]);
        odds *= std::pow(p / (1 - p), static_cast<double>(weights.weight[l]));
      }
      return odds / (1 + odds);
    }
  }
  return 0;
}

TEST(ScoreRuleTest, RandomPathsAgainstThePlainDefinition) {
  RandomStream random(StreamKey(1, 2, 3, Purpose::kTest));
  for (int round = 0; round < 300; ++round) {
    std::vector<StepScores> path(static_cast<size_t>(random.Range(1, 12)));
    LevelWeights weights{.bias = 2 * random.Uniform() - 1};
    for (size_t l = 0; l < kLevels; ++l) {
      weights.weight[l] = 4 * random.Uniform() - 2;
      for (StepScores& scores : path) {
        scores[static_cast<Level>(l)] = 0.02f + 0.96f * random.Uniform();
      }
    }
    for (size_t l = 0; l < kLevels; ++l) {
      for (size_t a = 0; a < kRankNames.size(); ++a) {
        const ScoreRule rule{static_cast<Level>(l), static_cast<Aggregate>(a)};
        const double expected = PlainRule(path, rule, weights);
        EXPECT_NEAR(static_cast<double>(CombineScores(path, rule, weights)),
                    expected, 1e-5 * (1 + expected))
            << kRankNames[a] << " of " << kLevelNames[l];
      }
    }
  }
}

TEST(ScoreRuleTest, CertainScoresAreFiniteToTheLearnedRule) {
  LevelWeights weights;
  weights.weight[IndexOf(Level::kStep)] = 1;
  weights.weight[IndexOf(Level::kPath)] = 1;
  const std::vector<StepScores> path = {{.step = 0, .path = 1}};
  EXPECT_NEAR(CombineScores(path, {Level::kPath, Aggregate::kLearned}, weights),
              0.5, 1e-4);
}

TEST(ScoreRuleTest, WhatAModelLacksIsNamed) {
  LevelWeights weights;
  weights.weight[IndexOf(Level::kOutcome)] = 1;
  const LevelSet windows = LevelSet(Level::kStep) | Level::kWindow3;
  struct Row {
    Level level;
    Aggregate aggregate;
    LevelWeights weights;
    LevelSet levels;
    std::string missing;
  };
  for (const Row& row : std::vector<Row>{
           {Level::kPath, Aggregate::kLast, {}, kStepAndPath, ""},
           // Of the two, one stands for the other.
           {Level::kPath, Aggregate::kMin, {}, Level::kStep, ""},
           {Level::kStep, Aggregate::kMin, {}, Level::kPath, ""},
           {Level::kOutcome, Aggregate::kLast, {}, kStepAndPath, "outcome"},
           {Level::kWindow2, Aggregate::kMean, {}, windows, "window2"},
           {Level::kWindow3, Aggregate::kMean, {}, windows, ""},
           {Level::kPath, Aggregate::kWindow, {}, windows, ""},
           {Level::kPath, Aggregate::kWindow, {}, kStepAndPath, "window2"},
           {Level::kPath, Aggregate::kWindow, {}, Level::kWindow2, "step"},
           {Level::kPath, Aggregate::kLearned, {}, windows, "weights"},
           {Level::kPath, Aggregate::kLearned, weights, windows, "outcome"},
           {Level::kPath, Aggregate::kLearned, weights, Level::kOutcome, ""}}) {
    const std::string missing =
        MissingLevels({row.level, row.aggregate}, row.weights, row.levels);
    if (row.missing.empty()) {
      EXPECT_EQ(missing, "");
    } else {
      EXPECT_THAT(missing, HasSubstr(row.missing));
    }
  }
}

TEST(ScoreRuleTest, WeightsAreReadByName) {
  const auto weights = ParseLevelWeights("bias=-1/window2=0.5/path=2");
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_EQ(weights->bias, -1);
  EXPECT_EQ(weights->weight[IndexOf(Level::kWindow2)], 0.5f);
  EXPECT_EQ(weights->weight[IndexOf(Level::kPath)], 2);
  EXPECT_EQ(weights->weight[IndexOf(Level::kStep)], 0);
  for (const char* text : {"stp=1", "step", "step=x", "step=nan", "step=1=2"}) {
    EXPECT_FALSE(ParseLevelWeights(text).ok()) << text;
  }
  EXPECT_THAT(ParseLevelWeights("windw2=1").status().message(),
              HasSubstr("window2"));
}

TEST(ScoreRuleTest, ALevelSetHoldsWhatWasPutIn) {
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    for (size_t k = 0; k < kLevels; ++k) {
      EXPECT_EQ(LevelSet(level).has(static_cast<Level>(k)), k == l);
    }
    EXPECT_EQ(LevelSet(level).first(), level);
    EXPECT_EQ(ParseLevel(kLevelNames[l]).value(), level);
  }
  EXPECT_EQ(LevelNames(kStepAndPath), "path, step");
  EXPECT_EQ(StepScores{}[Level::kWindow4] == kNone, false);
  EXPECT_EQ(WindowLevel(4), Level::kWindow4);
}

TEST(ScoreRuleTest, LowerScoresAreTheMeanLessTheSpread) {
  StepScores scores{.step = 0.75f, .path = 0.25f};
  scores.windows[1] = 0.5f;
  scores.spread_of(Level::kStep) = 0.125f;
  scores.spread_of(Level::kPath) = 0.25f;
  scores.spread_of(Level::kOutcome) = 0.5f;
  const StepScores lower = LowerScores(scores, 2);
  EXPECT_EQ(lower.step, 0.5f);
  EXPECT_EQ(lower.path, 0);  // .25 - .5
  EXPECT_EQ(lower.windows[1], 0.5f);
  EXPECT_TRUE(std::isnan(lower.outcome));
  EXPECT_EQ(lower.spread, StepScores().spread);
  EXPECT_EQ(LowerScores(scores, 0).path, 0.25f);
}

TEST(ScoreRuleTest, ASpreadIsNoLevel) {
  EXPECT_FALSE(kStepAndPath.spread());
  const LevelSet set = LevelSet(Level::kStep).WithSpread() | Level::kPath;
  EXPECT_TRUE(set.spread());
  EXPECT_FALSE(set == kStepAndPath);
  EXPECT_EQ(set.first(), Level::kPath);
  EXPECT_EQ(LevelNames(set), LevelNames(kStepAndPath));
  EXPECT_TRUE(LevelSet().WithSpread().empty());
}

}  // namespace
}  // namespace espalier
