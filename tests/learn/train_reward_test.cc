// Reward models from published files, on held-out problems, and in TRL's form.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "datasets/tasks/task_registry.h"
#include "models/differentiable/load_net.h"
#include "models/reward/reward_format.h"
#include "nlohmann/json.hpp"
#include "src/engine/score_solutions.h"
#include "src/learn/export.h"
#include "src/learn/held_out.h"
#include "src/learn/train_run.h"
#include "src/learn/trainer.h"
#include "tests/learn/train_run_fixture.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

using TrainRewardTest = TrainRunTest;

TEST_F(TrainRewardTest, LinesWithLevelsNeedNoValues) {
  std::ofstream(Path("levels.jsonl"))
      << R"({"prompt":"p\n","completions":["a\n","b\n"],)"
      << R"("levels":{"step":[1,0]}})";
  const auto tokenizer = Tokenizer::Load(kModel).value();
  FilterLog log;
  TrainDataOptions options{.kind = ExampleKind::kSteps,
                           .levels = Level::kStep,
                           .contamination = {.off = true}};
  const auto data =
      LoadTrainData(Path("levels.jsonl"), options, *tokenizer, -1, log);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(LabelsOf(*data, Level::kStep), (std::vector<float>{1, 0}));
  options.levels = kStepAndPath;
  const auto path =
      LoadTrainData(Path("levels.jsonl"), options, *tokenizer, -1, log);
  EXPECT_NE(path.status().message().find("no labels for the level path"),
            std::string::npos)
      << path.status();
}

TEST_F(TrainRewardTest, ConsensusKeepsWhereOutcomesAndVerifierAgree) {
  MakeDatabase();
  const auto tokenizer = Tokenizer::Load(kModel).value();
  FilterLog log;
  TrainDataOptions options{.kind = ExampleKind::kSteps,
                           .levels = kStepAndPath,
                           .consensus = true,
                           .contamination = {.off = true}};
  const auto data =
      LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
  ASSERT_TRUE(data.ok()) << data.status();
  // "= 9" ends right, but the verifier of lines says that it does not follow.
  EXPECT_EQ(LabelsOf(*data, Level::kStep), (std::vector<float>{1, 0}));
  EXPECT_EQ(LabelsOf(*data, Level::kPath), (std::vector<float>{1, 0}));
  EXPECT_NE(log.Text().find("right by the verifier: 2 in, 1 out"),
            std::string::npos)
      << log.Text();
  EXPECT_NE(log.Text().find("wrong by the verifier: 1 in, 1 out"),
            std::string::npos)
      << log.Text();
}

TEST_F(TrainRewardTest, CompressedTreesLabelWindowsOfTwo) {
  // Four steps after the first: whichever is merged, its window's label is the
  // share of right ends below it, 1 or 0.
  std::vector<SmallTree> trees(12);
  for (SmallTree& tree : trees) {
    const int first = tree.Add(0, "2+3=5 : 4 5\n");
    for (int i = 0; i < 4; ++i) {
      const int second = tree.Add(first, absl::StrCat("5+4=", i, " : 9\n"));
      tree.Add(second, "= 9\n",
               i < 2 ? NodeVerdict::kCorrect : NodeVerdict::kWrong);
    }
    for (int32_t& token : tree.tree.tokens) token %= 256;
  }
  const auto tokenizer = Tokenizer::Load(kModel).value();
  FilterLog log;
  const TrainDataOptions options{
      .kind = ExampleKind::kSteps,
      .levels = LevelSet(Level::kPath) | Level::kWindow2,
      .compress = true,
      .contamination = {.off = true}};
  const auto data =
      LoadTrainData(Database("trees.db", trees), options, *tokenizer, -1, log);
  ASSERT_TRUE(data.ok()) << data.status();
  int windows = 0;
  for (const SequenceGroup& group : data->groups) {
    const TrainSequence& s = group[0].sequence;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      const float label = s.Label(Level::kWindow2, t);
      if (std::isnan(label)) continue;
      ++windows;
      // It is the sequence's last token, after "5+4=i : 9\n" of 10 bytes.
      ASSERT_EQ(t + 1, s.tokens.size());
      EXPECT_EQ(label, s.tokens[t - 5] < '2' ? 1 : 0);
    }
  }
  // One in each tree, unless all four children stay (probability 1/16).
  EXPECT_GE(windows, 8);
  EXPECT_LE(windows, 12);
  // The labels of the path are those without compression.
  TrainDataOptions plain = options;
  plain.compress = false;
  plain.levels = Level::kPath;
  const auto without =
      LoadTrainData(Path("trees.db"), plain, *tokenizer, -1, log);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(LabelsOf(*data, Level::kPath), LabelsOf(*without, Level::kPath));
}

// The second step of problem i, and whether its label says right: nothing in
// the text tells, so that what a model says of other problems is often wrong.
bool SecondIsRight(int i) { return i % 3 != 0; }
std::vector<std::string> StepsOf(int i) {
  return {absl::StrCat(i, "+1=", i + 1), absl::StrCat(i + 1, "+1=", i + 2)};
}

// TRL's stepwise lines.
void WriteStepwise(const std::string& path, int problems) {
  std::ofstream file(path);
  for (int i = 1; i <= problems; ++i) {
    file << nlohmann::json{{"prompt", absl::StrCat(i, " + 1 + 1")},
                           {"completions", StepsOf(i)},
                           {"labels", {true, SecondIsRight(i)}}}
                .dump()
         << "\n";
  }
}

TEST_F(TrainRewardTest, AClassifierGivesTheScoresOfItsTraining) {
  WriteStepwise(Path("trl.jsonl"), 40);
  TrainRunOptions options = Reward("out");
  options.data = Path("trl.jsonl");
  options.format = "trl";
  options.train_data.levels = Level::kStep;
  options.held_out = 0.3;
  options.epochs = 6;
  FilterLog log;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->held_out);
  ASSERT_EQ(report->held_out->levels.size(), 1u);
  // The folder is recognised, and a search's reader finds the held-out figures:
  // the Brier score is the mean over the steps of those problems.
  const auto scorer = SolutionScorer::Load({.critic = Path("out"),
                                            .threads = 1,
                                            .kv_bytes = 16 << 20,
                                            .weights = "fp32"});
  ASSERT_TRUE(scorer.ok()) << scorer.status();
  const auto tokenizer = Tokenizer::Load(kModel).value();
  const StepLayout layout =
      StepLayout::Create(ReadRewardFormat("trl").value(), *tokenizer, kModel)
          .value();
  TrainDataOptions data_options = options.train_data;
  data_options.kind = ExampleKind::kSteps;
  data_options.layout = &layout;
  auto data =
      LoadTrainData(options.data, data_options, *tokenizer, -1, log).value();
  const auto held = TakeHeldOut(0.3, options.seed, data).value();
  std::vector<GivenSolution> solutions;
  std::vector<bool> right;
  for (const std::string& name : held.names) {  // "trl.jsonl:12"
    const int i = std::stoi(name.substr(name.rfind(':') + 1));
    solutions.push_back({absl::StrCat(i, " + 1 + 1"), StepsOf(i)});
    right.push_back(SecondIsRight(i));
  }
  double brier = 0;
  size_t steps = 0;
  const absl::Status status = (*scorer)->Score(
      solutions, *FindTask("qa").value(), nullptr,
      [&](size_t s, absl::StatusOr<std::vector<StepScores>> scores) {
        ASSERT_TRUE(scores.ok()) << scores.status();
        for (size_t k = 0; k < 2; ++k) {
          const double label = k == 0 || right[s] ? 1 : 0;
          const double off = static_cast<double>((*scores)[k].step) - label;
          brier += off * off;
          ++steps;
        }
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(static_cast<int64_t>(steps), report->held_out->levels[0].labels);
  EXPECT_GT(brier / static_cast<double>(steps), 0.05);
  // bf16 weights, and bf16 products in training.
  EXPECT_NEAR(brier / static_cast<double>(steps),
              report->held_out->levels[0].brier, 5e-3);
}

TEST_F(TrainRewardTest, ThePublishedClassifierScoresAsTheNet) {
  const auto net = net::LoadNet(kModel, {.precision = net::Precision::kFp32,
                                         .add_reward_head = true,
                                         .reward_outputs = {Level::kStep}})
                       .value();
  // What bf16 holds exactly.
  at::Tensor head = net->Parameter("reward_head.weight").value();
  head.copy_(head.to(at::kBFloat16).to(at::kFloat));
  net->Refresh();
  const std::string json =
      ReadFile(std::string(kModel) + "/tokenizer.json").value();
  ASSERT_TRUE(ExportClassifier(*net, json, Path("classifier")).ok());
  const auto scorer = SolutionScorer::Load({.critic = Path("classifier"),
                                            .threads = 1,
                                            .kv_bytes = 16 << 20,
                                            .weights = "fp32"});
  ASSERT_TRUE(scorer.ok()) << scorer.status();
  const std::vector<std::string> steps = {"2+3=5", "5+4=8", "8-1=7"};
  const auto tokenizer = Tokenizer::Load(kModel).value();
  TrainSequence sequence;
  std::vector<size_t> ends;
  sequence.Append(tokenizer->Encode("2 3 4").value(), 0);
  for (const std::string& step : steps) {
    sequence.Append(tokenizer->Encode(step).value(), 0);
    sequence.Append(tokenizer->Encode("\n").value(), 0);
    ends.push_back(sequence.tokens.size() - 1);
  }
  Trainer trainer(*net, {});
  const auto expected = trainer.Rewards({sequence}).value()[0];
  int calls = 0;
  const absl::Status status = (*scorer)->Score(
      std::vector<GivenSolution>{{"2 3 4", steps}}, *FindTask("qa").value(),
      nullptr, [&](size_t, absl::StatusOr<std::vector<StepScores>> scores) {
        ++calls;
        ASSERT_TRUE(scores.ok()) << scores.status();
        for (size_t k = 0; k < ends.size(); ++k) {
          EXPECT_NEAR((*scores)[k].step, expected[ends[k]].step, 1e-4);
        }
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(calls, 1);
}

// Figures of the held-out problems, in order.
std::vector<nlohmann::json> HeldOutLines(const std::string& work) {
  std::vector<nlohmann::json> out;
  std::ifstream file(work + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    auto json = nlohmann::json::parse(line);
    if (json.contains("held_out")) out.push_back(std::move(json));
  }
  return out;
}

TEST_F(TrainRewardTest, TheBestStateOnHeldOutProblemsIsWrittenAfterAnyKill) {
  TrainRunOptions options = Reward("whole");
  options.held_out = 0.3;
  options.patience = 2;
  options.epochs = 40;
  options.learning_rate = 1e-2;  // it overfits soon
  options.batch_tokens = 400;
  FilterLog log;
  const auto whole = TrainModel(options, nullptr, log);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(whole->held_out);
  const auto lines = HeldOutLines(Path("whole.work"));
  // It ended early: two epochs after the lowest loss.
  ASSERT_GT(lines.size(), 2u);
  ASSERT_LT(lines.size(), 40u);
  const auto best = std::min_element(
      lines.begin(), lines.end(),
      [](const auto& a, const auto& b) { return a["loss"] < b["loss"]; });
  EXPECT_EQ(lines.end() - best, 3);
  EXPECT_EQ(whole->held_out->step, (*best)["step"]);
  EXPECT_EQ(FiguresJson(*whole->held_out), *best);
  EXPECT_TRUE(best->contains("path_auc"));
  // Stopped after every step, with other numbers of threads.
  options.out = Path("broken");
  const std::atomic<bool> stop{true};
  for (int calls = 0;; ++calls) {
    ASSERT_LT(calls, 200);
    options.threads = 1 + calls % 3;
    const auto report = TrainModel(options, &stop, log);
    if (!report.ok()) {
      ASSERT_EQ(report.status().code(), absl::StatusCode::kCancelled)
          << report.status();
      continue;
    }
    EXPECT_EQ(FiguresJson(*report->held_out), *best);
    break;
  }
  EXPECT_EQ(HeldOutLines(Path("broken.work")), lines);
  EXPECT_EQ(ReadFile(Path("whole") + "/model.safetensors").value(),
            ReadFile(Path("broken") + "/model.safetensors").value());
  // The same command again finds the work done.
  const auto again = TrainModel(options, nullptr, log);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FiguresJson(*again->held_out), *best);
}

}  // namespace
}  // namespace espalier
