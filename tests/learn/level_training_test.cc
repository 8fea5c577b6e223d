// Heads of several levels on one trunk, trained on paths with planted errors
// and corrections.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "models/differentiable/load_net.h"
#include "nlohmann/json.hpp"
#include "src/learn/train_run.h"
#include "src/learn/trainer.h"
#include "src/trace/labels/level_targets.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kLevelModel[] = "models/zoo/countdown-base";
constexpr std::array<Level, 4> kTrained = {Level::kStep, Level::kWindow2,
                                           Level::kPath, Level::kOutcome};

// A running sum, "3+4=7", "7+5=12". A wrong line has a sum that is 1 too high;
// the next one may go on from the right sum instead.
struct SumPath {
  std::vector<std::string> lines;
  // Targets by level and line.
  std::array<std::vector<float>, kTrained.size()> targets;
};

SumPath MakePath(RandomStream& random) {
  SumPath path;
  std::vector<StepFact> facts;
  int truth = random.Range(1, 5), written = truth;
  for (int i = random.Range(4, 7); i > 0; --i) {
    const bool corrects = written != truth && random.Uniform() < 0.5f;
    const int from = corrects ? truth : written;
    const int added = random.Range(1, 5);
    const bool errs = random.Uniform() < 0.2f;
    truth += added;
    written = from + added + (errs ? 1 : 0);
    path.lines.push_back(absl::StrCat(from, "+", added, "=", written, "\n"));
    facts.push_back({.step_ok = !errs, .state_ok = written == truth});
  }
  bool all = true;
  for (size_t i = 0; i < facts.size(); ++i) {
    all = all && facts[i].step_ok;
    path.targets[0].push_back(StepTarget(facts, i));
    path.targets[1].push_back(WindowTarget(facts, i, 2));
    path.targets[2].push_back(all ? 1 : 0);
    path.targets[3].push_back(facts.back().state_ok ? 1 : 0);
  }
  return path;
}

// The share of pairs of a right and a wrong end that are in the right order.
double Auc(const std::vector<std::pair<float, float>>& scored) {
  double right = 0, pairs = 0;
  for (const auto& [a, good] : scored) {
    for (const auto& [b, bad] : scored) {
      if (good < 0.5f || bad > 0.5f) continue;
      ++pairs;
      right += a > b ? 1 : a == b ? 0.5 : 0;
    }
  }
  return right / pairs;
}

TEST(LevelTrainingTest, LongEachHeadIsTheBestOfItsOwnTarget) {
  std::string name = (fs::temp_directory_path() / "levels_XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  RandomStream random(StreamKey(7, 0, 0, Purpose::kTest));
  std::ofstream file(folder / "lines.jsonl");
  for (int i = 0; i < 6000; ++i) {
    const SumPath path = MakePath(random);
    file << nlohmann::json{{"prompt", absl::StrCat(i, "\n")},
                           {"completions", path.lines},
                           {"values", path.targets[2]},
                           {"levels",
                            {{"step", path.targets[0]},
                             {"window2", path.targets[1]},
                             {"outcome", path.targets[3]}}}}
                .dump()
         << "\n";
  }
  file.close();
  TrainRunOptions options{.model = kLevelModel,
                          .data = (folder / "lines.jsonl").string(),
                          .out = (folder / "out").string(),
                          .objective = "bce",
                          .train_data = {.contamination = {.off = true}},
                          .epochs = 6,
                          .batch_tokens = 4096,
                          .learning_rate = 1e-3};
  for (const Level level : kTrained) {
    options.train_data.levels = options.train_data.levels | level;
  }
  FilterLog log;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();

  const auto net = net::LoadNet(options.out, {}).value();
  const auto tokenizer = Tokenizer::Load(kLevelModel).value();
  Trainer trainer(*net, {});
  // By head and target.
  std::array<std::array<std::vector<std::pair<float, float>>, 4>, 4> scored;
  for (int i = 0; i < 600; ++i) {
    const SumPath path = MakePath(random);
    TrainSequence sequence;
    sequence.Append(tokenizer->Encode(absl::StrCat(5000 + i, "\n")).value(), 0);
    std::vector<size_t> ends;
    for (const std::string& line : path.lines) {
      sequence.Append(tokenizer->EncodeContinuation(line).value(), 0);
      ends.push_back(sequence.tokens.size() - 1);
    }
    const auto scores = trainer.Rewards({sequence}).value()[0];
    for (size_t s = 0; s < ends.size(); ++s) {
      for (size_t head = 0; head < 4; ++head) {
        for (size_t target = 0; target < 4; ++target) {
          scored[head][target].emplace_back(scores[ends[s]][kTrained[head]],
                                            path.targets[target][s]);
        }
      }
    }
  }
  for (size_t target = 0; target < 4; ++target) {
    std::string line;
    std::array<double, 4> auc;
    for (size_t head = 0; head < 4; ++head) {
      auc[head] = Auc(scored[head][target]);
      absl::StrAppend(&line, " ",
                      std::string(kLevelNames[IndexOf(kTrained[head])]), " ",
                      auc[head]);
    }
    std::printf("figure: AUC on the target %s of the heads:%s\n",
                kLevelNames[IndexOf(kTrained[target])].data(), line.c_str());
    for (size_t head = 0; head < 4; ++head) {
      if (head != target) {
        EXPECT_GT(auc[target], auc[head])
            << kLevelNames[IndexOf(kTrained[target])];
      }
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace espalier
