#include "src/learn/held_out.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "nlohmann/json.hpp"
#include "tests/learn/tiny_net.h"

namespace espalier {
namespace {

GroupSequence Path(std::vector<int32_t> tokens, std::vector<float> path) {
  GroupSequence g;
  g.sequence.Append(tokens, 0);
  g.sequence.labels[Level::kPath] = std::move(path);
  return g;
}

// Two paths that share their first step, whose label counts in the first one,
// and a third of another problem.
TEST(HeldOutTest, FiguresEqualThoseOfTheDefinitions) {
  const std::vector<SequenceGroup> groups = {
      {Path({1, 2, 3}, {kNone, 1, 0})},
      {Path({1, 2, 4}, {kNone, kNone, 0.75f})},
      {Path({5, 6, 7, 8}, {kNone, 0, kNone, 0})}};
  std::vector<std::vector<StepScores>> scores(3);
  const auto give = [&](size_t g, std::vector<float> path) {
    for (const float p : path) scores[g].push_back({.path = p});
  };
  give(0, {0.5f, 0.9f, 0.2f});
  give(1, {0.5f, 0.9f, 0.4f});
  give(2, {0.5f, 0.6f, 0.5f, 0.1f});
  const std::vector<LevelSet> outputs = {Level::kPath};
  const auto all = MeasureLevels(groups, scores, outputs);
  ASSERT_EQ(all.size(), 1u);
  const LevelQuality& q = all[0];
  EXPECT_EQ(q.labels, 5);
  // Right: .9, .4. Wrong: .2, .6, .1. Of six pairs, .4 against .6 is wrong.
  EXPECT_DOUBLE_EQ(q.auc, 5.0 / 6);
  // First steps: .9 right, .6 wrong. Second: .4 right; .2, .1 wrong.
  ASSERT_EQ(q.auc_by_step.size(), 2u);
  EXPECT_DOUBLE_EQ(q.auc_by_step[0], 1);
  EXPECT_DOUBLE_EQ(q.auc_by_step[1], 1);
  EXPECT_NEAR(q.brier,
              (0.1 * 0.1 + 0.2 * 0.2 + 0.35 * 0.35 + 0.6 * 0.6 + 0.1 * 0.1) / 5,
              1e-6);
  // Each score is in a bin of its own.
  EXPECT_NEAR(q.ece, (0.1 + 0.2 + 0.35 + 0.6 + 0.1) / 5, 1e-6);
  // First errors: path 1 at its second step, found; path 2 has none, but .4 is
  // called one; path 3 at its first step, missed. So 1 of 2 and 0 of 1.
  EXPECT_DOUBLE_EQ(q.first_error_f1, 0);
  give(1, {});
  scores[1][2].path = 0.7f;
  const auto better = MeasureLevels(groups, scores, outputs);
  EXPECT_NEAR(better[0].first_error_f1, 100 * 2 * 0.5 / 1.5, 0.1);

  HeldOutFigures figures{.step = 7, .problems = 2, .loss = 0.25, .levels = all};
  const auto json = FiguresJson(figures);
  EXPECT_EQ(json["path_auc"], 5.0 / 6);
  const auto read = ParseFigures(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FiguresJson(*read), json);
  EXPECT_FALSE(ParseFigures(nlohmann::json::object()).ok());
}

TEST(HeldOutTest, AProblemIsWhollyOnOneSideAndStaysThere) {
  const auto make = [](int problems) {
    TrainData data;
    for (int i = 0; i < 3 * problems; ++i) {
      data.groups.push_back({Path({i / 3, i}, {kNone, 1})});
      data.names.push_back("g");
      data.problems.push_back(i / 3);
    }
    for (int p = 0; p < problems; ++p) {
      data.problem_hashes.push_back(StableHash(std::to_string(p)));
    }
    return data;
  };
  const auto held = [&](int problems, double share) {
    TrainData data = make(problems);
    const auto out = TakeHeldOut(share, 1, data);
    EXPECT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(out->groups.size() + data.groups.size(),
              static_cast<size_t>(3 * problems));
    std::set<int> in(out->problems.begin(), out->problems.end());
    for (const int p : data.problems) EXPECT_FALSE(in.contains(p));
    return in;
  };
  const std::set<int> few = held(100, 0.2), many = held(1000, 0.2);
  EXPECT_NEAR(static_cast<double>(many.size()), 200, 60);
  for (int p = 0; p < 100; ++p) EXPECT_EQ(few.contains(p), many.contains(p));
  TrainData data = make(2);
  EXPECT_FALSE(TakeHeldOut(1e-9, 1, data).ok());
}

TEST(HeldOutTest, EvaluationHasTheLossOfAStepAndChangesNothing) {
  const auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  const auto objective = MakeObjective("bce").value();
  std::vector<SequenceGroup> groups;
  for (TrainSequence& s : Walks(12, 3)) {
    groups.emplace_back().emplace_back().sequence = std::move(s);
  }
  const at::Tensor before = net->weights().clone();
  const auto measured = trainer.EvaluateObjective(*objective, groups);
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_TRUE(at::equal(before, net->weights()));
  EXPECT_EQ(trainer.steps_done(), 0);
  const auto step = trainer.StepObjective(*objective, groups);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_DOUBLE_EQ(measured->loss, step->loss);
  EXPECT_DOUBLE_EQ(measured->right, step->right);
  EXPECT_FALSE(at::equal(before, net->weights()));
}

}  // namespace
}  // namespace espalier
