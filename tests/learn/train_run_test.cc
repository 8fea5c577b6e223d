#include "src/learn/train_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "datasets/tasks/countdown.h"
#include "datasets/tasks/task_registry.h"
#include "models/checkpoint/safetensors.h"
#include "models/differentiable/load_net.h"
#include "nlohmann/json.hpp"
#include "src/learn/trainer.h"
#include "src/trace/run_db.h"
#include "tests/learn/train_run_fixture.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

// The share of a training's tokens that were computed.
double Computed(const std::string& work) {
  double tokens = 0, computed = 0;
  std::ifstream file(work + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    tokens += row.at("tokens").get<double>();
    computed += row.at("computed_tokens").get<double>();
  }
  return computed / tokens;
}

TEST_F(TrainRunTest, WhatAProblemsResponsesShareIsComputedOnce) {
  std::ofstream lines(Path("many.jsonl"));
  for (int response = 0; response < 4; ++response) {
    for (int i = 1; i <= 40; ++i) {
      lines << nlohmann::json{{"prompt",
                               absl::StrCat(i, " 17 23 > ", i + 40, "\n")},
                              {"completion", absl::StrCat(i, "+", response, "=",
                                                          i + response)}}
                   .dump()
            << "\n";
    }
  }
  lines.close();
  TrainRunOptions options = Policy("together");
  options.data = Path("many.jsonl");
  options.epochs = 1;
  FilterLog log;
  ASSERT_TRUE(TrainModel(options, nullptr, log).ok());
  options.out = Path("mixed");
  options.by_problem = false;
  ASSERT_TRUE(TrainModel(options, nullptr, log).ok());
  EXPECT_LT(Computed(Path("together.work")), 0.8);
  EXPECT_GT(Computed(Path("mixed.work")), 0.9);
}

TEST_F(TrainRunTest, ImitationLowersTheLossAndWritesACheckpoint) {
  FilterLog log;
  const auto report = TrainModel(Policy("out"), nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->sequences, 24);
  EXPECT_LT(report->last_loss, 0.5 * report->first_loss);
  EXPECT_EQ(static_cast<int64_t>(Losses("out").size()), report->steps);
  for (const char* file :
       {"config.json", "model.safetensors", "tokenizer.json"}) {
    EXPECT_TRUE(fs::exists(Path("out") + "/" + file));
  }
}

TEST_F(TrainRunTest, RewardValuesAreLearned) {
  FilterLog log;
  TrainRunOptions options = Reward("out");
  options.epochs = 12;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  // Half of the labels are 1, a quarter 0 and a quarter .25: their entropy is
  // the lower bound of the loss.
  const double floor = 0.25 * -(0.25 * std::log(0.25) + 0.75 * std::log(0.75));
  EXPECT_LT(report->last_loss, 0.6 * report->first_loss);
  EXPECT_GT(report->last_loss, 0.5 * floor);
}

TEST_F(TrainRunTest, LevelsOfADatabaseComeFromItsVerifierAndItsEnds) {
  MakeDatabase();
  const auto tokenizer = Tokenizer::Load(kModel).value();
  FilterLog log;
  TrainDataOptions options{
      .kind = ExampleKind::kSteps,
      .levels = kStepAndPath | Level::kWindow2 | Level::kOutcome,
      .contamination = {.off = true}};
  auto data = LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
  ASSERT_TRUE(data.ok()) << data.status();
  // 2+3=5 is right; neither 9 nor 8 is the one number that is left.
  EXPECT_EQ(LabelsOf(*data, Level::kStep), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(LabelsOf(*data, Level::kWindow2), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(LabelsOf(*data, Level::kPath), (std::vector<float>{1, 1, 0}));
  // Path and outcome are the same share of right ends: one head.
  EXPECT_EQ(data->outputs,
            (std::vector<LevelSet>{LevelSet(Level::kPath) | Level::kOutcome,
                                   Level::kStep, Level::kWindow2}));
  // A quality value is not.
  options.steps.quality = true;
  data = LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->outputs.size(), 4u);
  EXPECT_EQ(LabelsOf(*data, Level::kOutcome), (std::vector<float>{1, 1, 0}));
}

TEST_F(TrainRunTest, EveryRequestedLevelIsTrained) {
  std::ofstream lines(Path("levels.jsonl"));
  for (int i = 1; i <= 24; ++i) {
    const std::string right = absl::StrCat(i, "+1=", i + 1, "\n");
    lines << nlohmann::json{{"prompt", absl::StrCat(i, " 1\n")},
                            {"completions", {right, "give up\n"}},
                            {"values", {1, 0.5}},
                            {"levels",
                             {{"step", {0, 1}}, {"window2", {nullptr, i % 2}}}}}
                 .dump()
          << "\n";
  }
  lines.close();
  FilterLog log;
  TrainRunOptions options = Reward("out");
  options.data = Path("levels.jsonl");
  options.train_data.levels = kStepAndPath | Level::kWindow2;
  options.epochs = 12;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LT(report->last_loss, 0.8 * report->first_loss);
  const auto config =
      nlohmann::json::parse(ReadFile(Path("out") + "/config.json").value());
  EXPECT_EQ(config["espalier_heads"]["reward"].dump(),
            R"(["path","step","window2"])");
  const auto file =
      SafetensorsFile::Open(Path("out") + "/model.safetensors").value();
  EXPECT_EQ(file.tensors().at("reward_head.weight").shape[0], 3);
  // What each head says of "give up": step 1, path .5.
  const auto net = net::LoadNet(Path("out"), {}).value();
  Trainer trainer(*net, {});
  TrainDataOptions data = options.train_data;
  data.kind = ExampleKind::kSteps;
  const auto tokenizer = Tokenizer::Load(kModel).value();
  const auto again =
      LoadTrainData(Path("levels.jsonl"), data, *tokenizer, -1, log).value();
  const auto scores =
      trainer.Rewards({again.groups[3][0].sequence}).value()[0].back();
  EXPECT_GT(scores.step, 0.8);
  EXPECT_NEAR(scores.path, 0.5, 0.2);
  EXPECT_TRUE(std::isnan(scores.outcome));
  // Trained on with other levels: an output begins where its level was.
  const auto next = net::LoadNet(
      Path("out"),
      {.reward_outputs = {Level::kWindow3, Level::kWindow2,
                          LevelSet(Level::kPath) | Level::kOutcome}});
  ASSERT_TRUE(next.ok()) << next.status();
  const at::Tensor before = *net->Parameter("reward_head.weight");
  const at::Tensor after = *(*next)->Parameter("reward_head.weight");
  ASSERT_EQ(after.size(0), 3);
  EXPECT_TRUE(at::equal(after[1], before[2]));
  EXPECT_TRUE(at::equal(after[2], before[0]));
}

TEST_F(TrainRunTest, ALevelWithoutLabelsIsRefused) {
  TrainRunOptions options = Reward("out");
  options.train_data.levels = Level::kStep;
  Refused(options, "no labels for the level step");
  options.train_data.levels = Level::kOutcome;
  Refused(options, "no labels for the level outcome");
  options.objective = "pairwise";
  Refused(options, "--levels outcome");
  // One value for all.
  std::ofstream(Path("one.jsonl"))
      << R"({"prompt":"p\n","completions":["a\n","b\n"],"values":[0,1],)"
      << R"("levels":{"step":[1,1]}})";
  options = Reward("out");
  options.data = Path("one.jsonl");
  options.train_data.levels = kStepAndPath;
  Refused(options, "every label of the level step is 1");
  for (const auto& [levels, word] :
       {std::pair(R"({"stp":[1,1]})", "step"),
        std::pair(R"({"step":[1]})", "one label per step"),
        std::pair(R"({"step":[1,2]})", "number in [0, 1]"),
        std::pair(R"({"path":[1,1]})", "values"), std::pair("[1]", "object")}) {
    std::ofstream(Path("one.jsonl"))
        << R"({"prompt":"p\n","completions":["a\n","b\n"],"values":[0,1],)"
        << "\"levels\":" << levels << "}";
    Refused(options, word);
  }
}

// Stops after every step and changes the number of threads.
TEST_F(TrainRunTest, StoppedAtEveryStepItEndsWithTheSameWeightsAndLosses) {
  FilterLog log;
  for (const auto& [reward, rank, ensemble] :
       {std::tuple(false, 0, 1), {true, 0, 1}, {false, 4, 1}, {true, 4, 3}}) {
    const std::string name = absl::StrCat(reward ? "r" : "p", rank);
    const std::string whole = name + "w", broken = name + "b";
    const auto options = [&, rank = rank, reward = reward,
                          ensemble = ensemble](const std::string& out) {
      TrainRunOptions run = reward ? Reward(out) : Policy(out);
      run.lora.rank = rank;
      run.ensemble = ensemble;
      return run;
    };
    ASSERT_TRUE(TrainModel(options(whole), nullptr, log).ok());
    const std::atomic<bool> stop{true};
    int calls = 0;
    while (true) {
      TrainRunOptions once = options(broken);
      once.threads = 1 + calls % 3;
      const auto report = TrainModel(once, &stop, log);
      ASSERT_LT(++calls, 100);
      if (report.ok()) break;
      ASSERT_EQ(report.status().code(), absl::StatusCode::kCancelled)
          << report.status();
      EXPECT_FALSE(fs::exists(Path(broken)));
    }
    EXPECT_GT(calls, 10);
    EXPECT_EQ(Losses(whole), Losses(broken));
    EXPECT_EQ(ReadFile(Path(whole) + "/model.safetensors").value(),
              ReadFile(Path(broken) + "/model.safetensors").value());
    if (rank == 0) continue;
    const std::string adapter = "/adapter/adapter_model.safetensors";
    EXPECT_EQ(ReadFile(Path(whole) + adapter).value(),
              ReadFile(Path(broken) + adapter).value());
  }
}

TEST_F(TrainRunTest, AnAdapterLowersTheLossAndIsWrittenBesideTheModel) {
  FilterLog log;
  TrainRunOptions options = Policy("out");
  options.lora = {.rank = 8, .targets = {"q", "v"}};
  options.learning_rate = 5e-3;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LT(report->last_loss, 0.8 * report->first_loss);
  const auto base =
      SafetensorsFile::Open(std::string(kModel) + "/model.safetensors");
  const auto file = SafetensorsFile::Open(Path("out") + "/model.safetensors");
  ASSERT_TRUE(base.ok() && file.ok());
  for (const auto& [name, info] : base->tensors()) {
    const auto before = base->data(name), after = file->data(name);
    EXPECT_EQ(std::equal(before.begin(), before.end(), after.begin()),
              name.find("q_proj") == std::string::npos &&
                  name.find("v_proj") == std::string::npos)
        << name;
  }
  const auto config = nlohmann::json::parse(
      ReadFile(Path("out") + "/adapter/adapter_config.json").value());
  EXPECT_EQ(config["r"], 8);
  EXPECT_EQ(config["lora_alpha"], 16);
  EXPECT_EQ(config["base_model_name_or_path"], kModel);
  EXPECT_TRUE(config["modules_to_save"].is_null());
  EXPECT_LT(10 * fs::file_size(Path("out.work/state.bin")),
            3 * 2 * fs::file_size(Path("out") + "/model.safetensors"));
}

// After a kill: metrics beyond the last saved state, and no state at all.
TEST_F(TrainRunTest, MetricsBeyondTheStateAreWrittenAnew) {
  FilterLog log;
  ASSERT_TRUE(TrainModel(Policy("whole"), nullptr, log).ok());
  const std::atomic<bool> stop{true};
  ASSERT_FALSE(TrainModel(Policy("killed"), &stop, log).ok());
  std::ofstream(Path("killed.work/metrics.jsonl"), std::ios::app)
      << "{\"step\":2,\"loss\":99}\n{\"step\":3,\"lo";
  ASSERT_TRUE(TrainModel(Policy("killed"), nullptr, log).ok());
  EXPECT_EQ(Losses("whole"), Losses("killed"));
  ASSERT_FALSE(TrainModel(Policy("begun"), &stop, log).ok());
  fs::remove(Path("begun.work/state.bin"));
  ASSERT_TRUE(TrainModel(Policy("begun"), nullptr, log).ok());
  EXPECT_EQ(Losses("whole"), Losses("begun"));
}

TEST_F(TrainRunTest, OtherSettingsAreRefusedBeforeAnythingChanges) {
  FilterLog log;
  const std::atomic<bool> stop{true};
  ASSERT_FALSE(TrainModel(Policy("out"), &stop, log).ok());
  const std::string before = ReadFile(Path("out.work/state.bin")).value();
  TrainRunOptions other = Policy("out");
  other.learning_rate = 2e-3;
  const auto refused = TrainModel(other, nullptr, log);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("learning_rate is 0.002"),
            std::string::npos);
  other = Policy("out");
  other.lora.rank = 8;
  EXPECT_NE(TrainModel(other, nullptr, log)
                .status()
                .message()
                .find("lora_rank is 8, was 0"),
            std::string::npos);
  other = Policy("out");
  other.data = Path("more.jsonl");
  std::ofstream(other.data)
      << ReadFile(Path("policy.jsonl")).value()
      << "{\"prompt\":\"1 2 > 3\\n\",\"completion\":\"\"}\n"
      << "{\"prompt\":\"1 2 > 3\\n\",\"completion\":\"x\"}\n";
  EXPECT_NE(
      TrainModel(other, nullptr, log).status().message().find("data_hash"),
      std::string::npos);
  EXPECT_EQ(ReadFile(Path("out.work/state.bin")).value(), before);
}

TEST_F(TrainRunTest, ALossThatIsNotANumberNamesTheBatchAndKeepsTheState) {
  FilterLog log;
  TrainRunOptions options = Policy("out");
  options.learning_rate = 1e30;
  options.clip_norm = 0;
  options.warmup = 0;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_EQ(report.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(report.status().message().find("policy.jsonl:"), std::string::npos)
      << report.status();
  EXPECT_NE(report.status().message().find("is kept in"), std::string::npos);
  EXPECT_TRUE(fs::exists(Path("out.work/state.bin")));
  EXPECT_FALSE(fs::exists(Path("out")));
}

TEST_F(TrainRunTest, WrongInputIsNamed) {
  const auto refused = [&](const TrainRunOptions& options,
                           const std::string& word) { Refused(options, word); };
  TrainRunOptions options = Policy("out");
  options.epochs = 0;
  refused(options, "--epochs 0");
  options = Policy("out");
  options.learning_rate = NAN;
  refused(options, "--learning-rate");
  options = Policy("out");
  options.lora.rank = -2;
  refused(options, "--lora-rank -2");
  options.lora.rank = 65;  // of k and v, 64 wide
  refused(options, "expected 1 to 64");
  options.lora = {.rank = 8, .targets = {"queue"}};
  refused(options, "--lora-targets");
  options.lora = {.alpha = 8};
  refused(options, "--lora-rank 8");
  options = Policy("out");
  options.model = Path("none");
  refused(options, "none");
  options = Policy("out");
  options.data = Path("none.jsonl");
  refused(options, "none.jsonl");
  options.data = Path("bad.jsonl");
  const std::string good = "{\"prompt\":\"a\",\"completion\":\"b\"}\n";
  for (const auto& [line, word] : {std::pair<std::string, std::string>{
                                       "{\"prompt\":", "is not JSON at column"},
                                   {"{\"prompt\":\"a\"}", "completion"},
                                   {"{\"messages\":[]}", "chat template"},
                                   {"[1]", "expected a JSON object"}}) {
    std::ofstream(options.data) << good << good << line << "\n";
    refused(options, word);
    refused(options, "bad.jsonl:3");
  }
  std::ofstream(options.data) << "\n\n";
  refused(options, "bad.jsonl: is empty");
  std::ofstream(options.data) << "";
  refused(options, "bad.jsonl: is empty");
  std::ofstream(options.data) << "{\"prompt\":\"a\",\"completion\":\"\"}\n";
  refused(options, "with something to learn: 1 in, 0 out");
  options.objective = "dpo";
  for (const char* weight : {"0", "-1", "\"1\"", "1e40"}) {
    std::ofstream(options.data)
        << "{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\","
        << "\"weight\":" << weight << "}\n";
    refused(options, "bad.jsonl:1: \"weight\" is");
  }
  options.objective = "bce";
  std::ofstream(options.data)
      << "{\"prompt\":\"a\",\"completions\":[],\"values\":[]}\n";
  refused(options, "with something to learn: 1 in, 0 out");
  for (const char* line :
       {"{\"prompt\":\"a\",\"completions\":[\"b\"],\"values\":[2]}",
        "{\"prompt\":\"a\",\"completions\":[\"b\"],\"values\":[]}",
        "{\"prompt\":\"a\",\"completions\":[3],\"values\":[1]}",
        "{\"prompt\":\"a\",\"completions\":[\"b\"]}"}) {
    std::ofstream(options.data) << line << "\n";
    refused(options, "bad.jsonl:1");
  }
  // Published formats among lines of another one.
  for (const char* line :
       {"{\"prompt\":\"a\",\"completions\":[\"b\"],\"labels\":[true]}",
        "{\"input\":\"a\",\"label\":\"b\",\"task\":\"GSM8K\"}",
        "{\"problem\":\"a\",\"steps\":[\"b\"],\"label\":-1}",
        "{\"question\":{\"problem\":\"a\"},\"label\":{\"steps\":[]}}"}) {
    std::ofstream(options.data)
        << "{\"prompt\":\"a\",\"completions\":[\"b\\n\"],\"values\":[1]}\n"
        << line << "\n";
    refused(options, "bad.jsonl:2");
    refused(options, "into a file of");
  }
  options = Policy("out");
  options.held_out = 0.5;
  refused(options, "--held-out: is for reward models");
  options = Reward("out");
  options.held_out = 1;
  refused(options, "--held-out 1");
  options.held_out = 0;
  options.patience = 2;
  refused(options, "--patience 2");
  options = Reward("out");
  options.format = "trl";
  options.train_data.levels = kStepAndPath;
  refused(options, "one level, step or path");
  options.format = "qwen";
  refused(options, "--format qwen");
}

// Searches that an objective cannot learn from.
TEST_F(TrainRunTest, SearchesThatTeachNothingAreRefusedWithARemedy) {
  SmallTree right, wrong, cut;
  for (SmallTree* tree : {&right, &wrong}) {
    const auto verdict =
        tree == &right ? NodeVerdict::kCorrect : NodeVerdict::kWrong;
    tree->Add(tree->Add(0, "2+3=5 : 4 5\n"), "= 9\n", verdict, 3);
    tree->Add(0, "= 9\n", verdict);
  }
  cut.Cut(0, "2+3=5 : 4 5\n");
  const std::string alike = Database("alike.db", {right, wrong});
  const auto refused = [&](const std::string& data, const char* objective,
                           const char* words, const char* remedy) {
    TrainRunOptions options = Policy("out");
    options.data = data;
    options.objective = objective;
    Refused(options, words);
    Refused(options, remedy);
  };
  for (const char* objective : {"dpo", "orpo", "pairwise"}) {
    refused(alike, objective, "no pairs: every problem's steps have the same",
            "lower --margin");
  }
  refused(alike, "grpo", "no groups: ", "lower --min-std");
  TrainRunOptions options = Policy("out");
  options.data = alike;
  options.objective = "grpo";
  options.train_data.groups.min_std = 0;
  Refused(options, "every advantage is 0");
  const std::string failed = Database("failed.db", {wrong});
  refused(failed, "sft", "no response to imitate", "search easier problems");
  options.train_data.steps.quality = true;
  options.data = failed;
  options.objective = "bce";
  Refused(options, "--value outcomes");
  const std::string ungraded = Database("ungraded.db", {cut});
  for (const char* objective : {"bce", "mse"}) {
    refused(ungraded, objective, "no labelled steps", "--min-outcomes 1");
  }
  for (const char* objective : {"bce", "mse"}) {
    refused(failed, objective, "every labelled step has the value 0",
            "search easier problems");
    refused(Database(absl::StrCat("right", objective, ".db"), {right}),
            objective, "every labelled step has the value 1",
            "search harder problems");
  }
  const std::string empty = Database("empty.db", {});
  for (const ObjectiveInfo* info : ListObjectives()) {
    refused(empty, info->name.c_str(), "no search has ended yet", "--resume");
  }
}

TEST_F(TrainRunTest, AModelThatDisagreesWithItsWeightsIsRefused) {
  for (const char* objective : {"sft", "bce"}) {
    const std::string tag = objective;
    TrainRunOptions options = tag == "bce" ? Reward("out") : Policy("out");
    options.model = ModelWith("wide" + tag, "intermediate_size", 64);
    Refused(options, "expected shape");
    options.model = ModelWith("deep" + tag, "num_hidden_layers", 7);
    Refused(options, "from config.json, found no such tensor");
    options.model = ModelWith("few" + tag, "vocab_size", 288);
    Refused(options, "embed_tokens");
  }
}

TEST_F(TrainRunTest, TokensOfAnotherTokenizerAreRefused) {
  SmallTree tree;
  tree.Add(0, "= 9\n", NodeVerdict::kCorrect);
  TrainRunOptions options = Policy("out");
  options.data = Database("other.db", {tree}, "0123456789abcdef");
  Refused(options, "recorded with other-model");
  Refused(options, "espalier export");
}

// Training does not resume the state of one model from another.
TEST_F(TrainRunTest, AWorkFolderOfAnotherModelIsRefused) {
  FilterLog log;
  const std::atomic<bool> stop{true};
  TrainRunOptions options = Policy("out");
  ASSERT_FALSE(TrainModel(options, &stop, log).ok());
  options.model = "models/zoo/stories";
  EXPECT_NE(
      TrainModel(options, nullptr, log).status().message().find("model_hash"),
      std::string::npos);
  fs::remove(Path("out.work/config.json"));
  const auto report = TrainModel(options, nullptr, log);
  EXPECT_NE(report.status().message().find("without the config.json"),
            std::string::npos)
      << report.status();
  EXPECT_FALSE(fs::exists(Path("out.work/config.json")));
}

// Lines are checked like databases: by default against all test problems.
TEST_F(TrainRunTest, LinesThatAnEvaluationHoldsAreLeftOut) {
  const auto tokenizer = Tokenizer::Load(kModel).value();
  const Task* task = FindTask("countdown").value();
  const auto prompt = [&](uint64_t seed, uint64_t index) {
    return task->Render(MakeCountdown(3, seed, index).problem).value();
  };
  std::ofstream(Path("lines.jsonl"))
      << nlohmann::json{{"prompt", prompt(7, 0)}, {"completion", "x"}} << "\n"
      << nlohmann::json{{"prompt", prompt(2000, 5)}, {"completion", "x"}}
      << "\n"
      << nlohmann::json{{"prompt", prompt(2000, 6) + "1+1=2 : 2 3\n"},
                        {"completion", "x"}}
      << "\n";
  const auto load = [&](const ContaminationOptions& contamination,
                        FilterLog& log) {
    return LoadTrainData(Path("lines.jsonl"), {.contamination = contamination},
                         *tokenizer, 511, log);
  };
  FilterLog log;
  const auto kept = load({}, log);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->names.size(), 1u);
  EXPECT_TRUE(kept->names[0].ends_with("lines.jsonl:1"));
  EXPECT_NE(log.Text().find("42000 questions) does not hold: 3 in, 1 out"),
            std::string::npos)
      << log.Text();
  EXPECT_EQ(load({.off = true}, log)->groups.size(), 3u);
  EXPECT_EQ(load({.eval_sets = {"stories:easy"}}, log)->groups.size(), 3u);
  EXPECT_EQ(
      load({.eval_sets = {"countdown:3"}, .eval_limit = 6}, log)->groups.size(),
      2u);
  const auto none = load({.eval_sets = {Path("none.jsonl")}}, log);
  EXPECT_NE(none.status().message().find("none.jsonl"), std::string::npos);
}

TEST_F(TrainRunTest, AnExistingCheckpointIsNotOverwritten) {
  FilterLog log;
  fs::create_directories(Path("out"));
  std::ofstream(Path("out") + "/config.json") << "{}";
  EXPECT_EQ(TrainModel(Policy("out"), nullptr, log).status().code(),
            absl::StatusCode::kAlreadyExists);
}

// From a run database: tokens as drawn, loss only on the response, the end
// token after it; problems of the evaluation are left out.
TEST_F(TrainRunTest, SequencesOfADatabaseAreTheDrawnTokens) {
  const auto tokenizer = Tokenizer::Load(kModel).value();
  const SmallTree tree = MakeDatabase();
  FilterLog log;
  TrainDataOptions options{.contamination = {.off = true}};
  const auto policy =
      LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
  ASSERT_TRUE(policy.ok()) << policy.status();
  ASSERT_EQ(policy->groups.size(), 1u);
  const TrainSequence& s = policy->groups[0][0].sequence;
  std::vector<int32_t> response;
  for (size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.lm_weight[i] > 0) response.push_back(s.tokens[i]);
    EXPECT_TRUE(std::isnan(s.labels[Level::kPath][i]));
  }
  std::vector<int32_t> drawn(tree.tree.tokens.begin(),
                             tree.tree.tokens.begin() + 16);
  drawn.push_back(511);
  EXPECT_EQ(response, drawn);
  options.kind = ExampleKind::kSteps;
  const auto reward =
      LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
  ASSERT_TRUE(reward.ok()) << reward.status();
  ASSERT_EQ(reward->groups.size(), 2u);
  std::vector<float> labels;
  for (const SequenceGroup& group : reward->groups) {
    const TrainSequence& r = group[0].sequence;
    for (const float label : r.labels[Level::kPath]) {
      if (!std::isnan(label)) labels.push_back(label);
    }
    for (const float weight : r.lm_weight) EXPECT_EQ(weight, 0);
  }
  EXPECT_EQ(labels, (std::vector<float>{1, 1, 0}));
  options.contamination = {.eval_sets = {Path("eval.jsonl")}};
  std::ofstream(Path("eval.jsonl"))
      << nlohmann::json{{"question", kQuestion}, {"answer", "9"}}.dump()
      << "\n";
  EXPECT_EQ(LoadTrainData(Path("run.db"), options, *tokenizer, 511, log)
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(TrainRunTest, PairsAndGroupsOfADatabase) {
  const auto tokenizer = Tokenizer::Load(kModel).value();
  MakeDatabase();
  FilterLog log;
  TrainDataOptions options{.kind = ExampleKind::kPairs,
                           .contamination = {.off = true}};
  const auto load = [&] {
    auto data = LoadTrainData(Path("run.db"), options, *tokenizer, 511, log);
    EXPECT_TRUE(data.ok()) << data.status();
    return *std::move(data);
  };
  // The right first step against the wrong answer: one pair.
  TrainData data = load();
  ASSERT_EQ(data.groups.size(), 1u);
  ASSERT_EQ(data.groups[0].size(), 2u);
  const auto counting = [](const GroupSequence& g) {
    return std::count_if(g.sequence.lm_weight.begin(),
                         g.sequence.lm_weight.end(),
                         [](float w) { return w > 0; });
  };
  EXPECT_EQ(counting(data.groups[0][0]), 12);  // "2+3=5 : 4 5\n"
  EXPECT_EQ(counting(data.groups[0][1]), 4);   // "= 8\n"
  options.kind = ExampleKind::kStepPairs;
  data = load();
  for (const GroupSequence& g : data.groups[0]) {
    EXPECT_EQ(counting(g), 0);
    EXPECT_EQ(g.sequence.labels[Level::kPath].back(), 1);
    EXPECT_EQ(g.advantage, 1);
  }
  // The right answer was drawn three times, the wrong one once.
  options.kind = ExampleKind::kGroups;
  data = load();
  ASSERT_EQ(data.groups.size(), 4u);
  std::vector<float> advantages;
  for (const SequenceGroup& group : data.groups) {
    const GroupSequence& g = group[0];
    advantages.push_back(g.advantage);
    ASSERT_EQ(g.old_logprobs.size(), g.sequence.tokens.size());
    for (size_t t = 0; t < g.old_logprobs.size(); ++t) {
      EXPECT_EQ(g.old_logprobs[t]<0, g.sequence.lm_weight[t]> 0);
    }
  }
  EXPECT_EQ(advantages, (std::vector<float>{0.25f, 0.25f, 0.25f, -0.75f}));
  options.groups.min_std = 0.5f;
  EXPECT_FALSE(
      LoadTrainData(Path("run.db"), options, *tokenizer, 511, log).ok());
}

TEST_F(TrainRunTest, EveryObjectiveTrainsFromADatabase) {
  MakeDatabase();
  FilterLog log;
  for (const ObjectiveInfo* info : ListObjectives()) {
    TrainRunOptions options = Policy(info->name);
    options.data = Path("run.db");
    options.objective = info->name;
    const auto report = TrainModel(options, nullptr, log);
    ASSERT_TRUE(report.ok()) << info->name << " " << report.status();
    EXPECT_TRUE(std::isfinite(report->last_loss));
    EXPECT_GE(report->steps, 4);
  }
}

}  // namespace
}  // namespace espalier
