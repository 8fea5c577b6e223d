#include "src/engine/score_solutions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/files.h"
#include "espalier/load_reward_model.h"
#include "espalier/registry.h"
#include "tests/models/testing/published_reward.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

using Scores = std::vector<StepScores>;

// The scores of `solutions`, in their order.
std::vector<absl::StatusOr<Scores>> ScoreAll(
    SolutionScorer& model, const std::vector<GivenSolution>& solutions) {
  std::vector<absl::StatusOr<Scores>> out(solutions.size(),
                                          absl::UnknownError("not called"));
  const absl::Status status = model.Score(
      solutions, *FindTask("qa").value(), nullptr,
      [&](size_t i, absl::StatusOr<Scores> scores) { out[i] = scores; });
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(SolutionScorerTest, ScoresEqualThePublishedComputation) {
  const std::vector<GivenSolution> solutions = {
      {"What is 17 + 25?", {"17 + 25 = 42.", "The answer is 42."}},
      {"Is 7 even?", {"7 = 2 * 3 + 1.", "So it is odd.", "The answer is no."}},
      {"What is 1 + 1?", {"2"}}};
  for (const char* name : {"qwen_prm", "math_shepherd", "rlhflow", "trl"}) {
    const RewardCheckpoint checkpoint = WriteRewardCheckpoint(name, 3);
    const PublishedReward published(name, checkpoint);
    const auto model = SolutionScorer::Load({.critic = checkpoint.folder,
                                             .reward_format = name,
                                             .threads = 1,
                                             .live = 2,
                                             .kv_bytes = 16 << 20,
                                             .weights = "fp32"});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto all = ScoreAll(**model, solutions);
    for (size_t i = 0; i < solutions.size(); ++i) {
      ASSERT_TRUE(all[i].ok()) << all[i].status();
      ASSERT_EQ(all[i]->size(), solutions[i].steps.size());
      std::vector<std::string> steps;
      double lowest = 1;
      for (size_t k = 0; k < solutions[i].steps.size(); ++k) {
        steps.push_back(solutions[i].steps[k]);
        const double score = published.Score(solutions[i].question, steps);
        lowest = std::min(lowest, score);
        EXPECT_NEAR((*all[i])[k].step, score, 1e-4) << name;
        EXPECT_NEAR((*all[i])[k].path, lowest, 1e-4) << name;
      }
    }
  }
}

TEST(LoadRewardModelTest, ScoresTheLastStepOfEachResponse) {
  const std::vector<std::string> responses = {
      "17 + 25 = 42.\n", "17 + 25 = 42.\nThe answer is 42.", "Who knows?\n"};
  const std::vector<std::vector<std::string>> steps = {
      {"17 + 25 = 42."},
      {"17 + 25 = 42.", "The answer is 42."},
      {"Who knows?"}};
  for (const char* name : {"qwen_prm", "trl"}) {
    const RewardCheckpoint checkpoint = WriteRewardCheckpoint(name, 3);
    const PublishedReward published(name, checkpoint);
    const Task* task = FindTask("qa").value();
    const auto model = LoadRewardModel({.critic = checkpoint.folder,
                                        .reward_format = name,
                                        .threads = 1,
                                        .kv_bytes = 16 << 20,
                                        .weights = "fp32"},
                                       *task);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->name(), checkpoint.folder);
    const Problem problem{"1", "", "What is 17 + 25?"};
    const auto scores = (*model)->Score(problem, responses);
    ASSERT_TRUE(scores.ok()) << scores.status();
    ASSERT_EQ(scores->size(), responses.size());
    for (size_t i = 0; i < responses.size(); ++i) {
      EXPECT_NEAR((*scores)[i].step,
                  published.Score(problem.question, steps[i]), 1e-4)
          << name << " " << i;
    }
    // Whatever was scored before and beside it.
    const auto again = (*model)->Score(problem, {{responses[1]}});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)[0].step, (*scores)[1].step);
    EXPECT_EQ((*again)[0].path, (*scores)[1].path);
  }
}

TEST(LoadRewardModelTest, AResponseThatCannotBeScoredIsNamed) {
  const RewardCheckpoint checkpoint = WriteRewardCheckpoint("qwen_prm", 3);
  const auto model = LoadRewardModel(
      {.critic = checkpoint.folder, .threads = 1, .kv_bytes = 16 << 20},
      *FindTask("qa").value());
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<std::string> responses = {"a\n", "a\n<extra_0>"};
  const auto scores = (*model)->Score({"1", "", "Q?"}, responses);
  ASSERT_FALSE(scores.ok());
  EXPECT_NE(scores.status().message().find("response 1 of 2"),
            std::string::npos)
      << scores.status();
}

TEST(SolutionScorerTest, ASolutionThatCannotBeJudgedDoesNotEndTheOthers) {
  const RewardCheckpoint checkpoint = WriteRewardCheckpoint("qwen_prm", 3);
  const auto model = SolutionScorer::Load(
      {.critic = checkpoint.folder, .threads = 1, .kv_bytes = 16 << 20});
  ASSERT_TRUE(model.ok()) << model.status();
  std::string longest;
  for (int i = 0; i < 5000; ++i) longest += "number ";
  const auto all = ScoreAll(**model, {{"Q?", {"a", "<extra_0>"}},
                                      {"Q?", {"a", "b"}},
                                      {"Q?", {longest}},
                                      {"", {"a"}}});
  EXPECT_FALSE(all[0].ok());
  EXPECT_TRUE(all[1].ok()) << all[1].status();
  EXPECT_FALSE(all[2].ok());
  EXPECT_FALSE(all[3].ok());
}

TEST(SolutionScorerTest, CalibratedScoresAreOnTheCurve) {
  const std::vector<GivenSolution> solutions = {
      {"What is 17 + 25?", {"17 + 25 = 42.", "So it is.", "It is 42."}}};
  const RewardCheckpoint checkpoint = WriteRewardCheckpoint("qwen_prm", 3);
  const std::string file = checkpoint.folder + "/calibration.textproto";
  ASSERT_TRUE(
      WriteFileAtomic(file, "level { name: \"step\" slope: 2 intercept: -1 }")
          .ok());
  const auto raw = SolutionScorer::Load({.critic = checkpoint.folder,
                                         .calibration = "none",
                                         .threads = 1,
                                         .kv_bytes = 16 << 20});
  const auto found = SolutionScorer::Load(
      {.critic = checkpoint.folder, .threads = 1, .kv_bytes = 16 << 20});
  ASSERT_TRUE(raw.ok() && found.ok()) << found.status();
  const Scores before = *ScoreAll(**raw, solutions)[0];
  const Scores after = *ScoreAll(**found, solutions)[0];
  double lowest = 1;
  for (size_t i = 0; i < before.size(); ++i) {
    const double odds = before[i].step / (1 - before[i].step);
    const double calibrated = odds * odds / (odds * odds + std::exp(1));
    lowest = std::min(lowest, calibrated);
    EXPECT_NEAR(after[i].step, calibrated, 1e-5);
    // The lowest of the calibrated steps.
    EXPECT_NEAR(after[i].path, lowest, 1e-5);
    EXPECT_NE(after[i].step, before[i].step);
  }
}

TEST(SolutionScorerTest, AModelWithoutAHeadIsRefused) {
  const RewardCheckpoint checkpoint = WriteRewardCheckpoint("math_shepherd", 3);
  const auto model = SolutionScorer::Load({.critic = checkpoint.folder});
  EXPECT_FALSE(model.ok());
}

}  // namespace
}  // namespace espalier
