// Small data and settings for trainings that take seconds.
#ifndef ESPALIER_TESTS_LEARN_TRAIN_RUN_FIXTURE_H_
#define ESPALIER_TESTS_LEARN_TRAIN_RUN_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "nlohmann/json.hpp"
#include "src/learn/train_run.h"
#include "src/trace/run_db.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {

namespace fs = std::filesystem;

inline constexpr char kModel[] = "models/zoo/countdown-base";
inline constexpr char kQuestion[] =
    "Use 2, 3 and 4 once each with + - * / to make 9.";

class TrainRunTest : public testing::Test {
 protected:
  TrainRunTest() {
    std::string name = (fs::temp_directory_path() / "train_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream policy(Path("policy.jsonl"));
    std::ofstream reward(Path("reward.jsonl"));
    for (int i = 1; i <= 24; ++i) {
      const int a = i, b = i % 7 + 1;
      const std::string prompt = absl::StrCat(a, " ", b, " > ", a + b, "\n");
      const std::string right =
          absl::StrCat(a, "+", b, "=", a + b, " : ", a + b, "\n");
      policy << nlohmann::json{{"prompt", prompt}, {"completion", right}}.dump()
             << "\n";
      reward << nlohmann::json{{"prompt", prompt},
                               {"completions", {right, "give up\n"}},
                               {"values", {1.0, i % 2 == 0 ? 0.0 : 0.25}}}
                    .dump()
             << "\n";
    }
  }
  ~TrainRunTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }

  // Without the contamination check, which is tested separately.
  TrainRunOptions Policy(const std::string& out) const {
    return {.model = kModel,
            .data = Path("policy.jsonl"),
            .out = Path(out),
            .train_data = {.contamination = {.off = true}},
            .epochs = 4,
            .batch_tokens = 150,
            .learning_rate = 1e-3,
            .save_every = 3};
  }
  TrainRunOptions Reward(const std::string& out) const {
    TrainRunOptions options = Policy(out);
    options.data = Path("reward.jsonl");
    options.objective = "bce";
    return options;
  }

  // A run with one search: one right answer drawn three times and a wrong one.
  SmallTree MakeDatabase() const {
    auto db = RunDb::Open(Path("run.db"), Sqlite::kCreate).value();
    const int64_t run =
        db->AddRun({.kind = "generate", .config = "{}"}).value();
    const GradedProblem problem{{"countdown:3/1/0", "countdown:3", kQuestion},
                                {}};
    const int64_t id =
        db->AddProblem(problem, "countdown:3", "countdown").value();
    const SearchRow search = db->BeginSearch(run, id, 0).value();
    SmallTree tree;
    tree.Add(tree.Add(0, "2+3=5 : 4 5\n"), "= 9\n", NodeVerdict::kCorrect, 3);
    tree.Add(0, "= 8\n", NodeVerdict::kWrong);
    // One token per byte, unlike the tokenizer.
    for (int32_t& token : tree.tree.tokens) token %= 256;
    EXPECT_TRUE(db->FinishSearch(search.search_id,
                                 Finished({}, true, tree.tree, {}).value())
                    .ok());
    EXPECT_TRUE(db->Commit().ok());
    return tree;
  }

  // A database with one search for each tree; `tokenizer` is what it records of
  // the model.
  std::string Database(const std::string& name,
                       const std::vector<SmallTree>& trees,
                       const std::string& tokenizer = "") const {
    auto db = RunDb::Open(Path(name), Sqlite::kCreate).value();
    const int64_t run = db->AddRun({.kind = "generate",
                                    .config = "{}",
                                    .model = "other-model",
                                    .tokenizer_hash = tokenizer})
                            .value();
    for (size_t i = 0; i < trees.size(); ++i) {
      const GradedProblem problem{
          {absl::StrCat("countdown:3/1/", i), "countdown:3",
           absl::StrCat("Use 2, 3 and ", i + 4, " to reach 9.")},
          {}};
      const int64_t id =
          db->AddProblem(problem, "countdown:3", "countdown").value();
      const SearchRow search = db->BeginSearch(run, id, 0).value();
      EXPECT_TRUE(
          db->FinishSearch(search.search_id,
                           Finished({}, true, trees[i].tree, {}).value())
              .ok());
    }
    EXPECT_TRUE(db->Commit().ok());
    return Path(name);
  }

  // A copy of the model with one number in config.json changed.
  std::string ModelWith(const std::string& name, const std::string& key,
                        int value) const {
    fs::copy(kModel, Path(name));
    auto config =
        nlohmann::json::parse(ReadFile(Path(name) + "/config.json").value());
    config[key] = value;
    EXPECT_TRUE(
        WriteFileAtomic(Path(name) + "/config.json", config.dump()).ok());
    return Path(name);
  }

  // Expects an error that contains `word`, and no files left behind.
  void Refused(const TrainRunOptions& options, const std::string& word) const {
    FilterLog log;
    const auto report = TrainModel(options, nullptr, log);
    EXPECT_FALSE(report.ok()) << word;
    EXPECT_NE(report.status().message().find(word), std::string::npos)
        << word << ": " << report.status();
    EXPECT_FALSE(fs::exists(options.out)) << word;
    EXPECT_FALSE(fs::exists(options.out + ".work")) << word;
  }

  // Losses, by step.
  std::vector<double> Losses(const std::string& out) const {
    std::vector<double> losses;
    const std::string text =
        ReadFile(Path(out + ".work/metrics.jsonl")).value();
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (line.empty()) continue;
      const auto json = nlohmann::json::parse(line.begin(), line.end());
      EXPECT_EQ(json["step"], losses.size() + 1);
      losses.push_back(json["loss"]);
    }
    return losses;
  }

  fs::path folder_;
};

// Labels of a level at the tokens that have one.
inline std::vector<float> LabelsOf(const TrainData& data, Level level) {
  std::vector<float> labels;
  for (const SequenceGroup& group : data.groups) {
    for (const float label : group[0].sequence.labels[level]) {
      if (!std::isnan(label)) labels.push_back(label);
    }
  }
  return labels;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_LEARN_TRAIN_RUN_FIXTURE_H_
