#include "src/learn/labelled_solutions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/files.h"
#include "datasets/tasks/task_registry.h"
#include "models/reward/reward_format.h"
#include "search/algorithm.h"
#include "src/engine/prompt.h"
#include "src/engine/prompted_task.h"
#include "src/engine/reward_reader.h"
#include "src/engine/runner.h"
#include "src/learn/train_data.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

// Notes the ids of every sequence whose last token a search has read.
class NotingBackend : public Backend {
 public:
  NotingBackend() {
    capabilities_.reward = true;
    capabilities_.context_length = 100000;
    capabilities_.hidden_size = 4;
    capabilities_.levels = kStepAndPath;
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override {
    Ids ids = sequences_[static_cast<size_t>(parent)];
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    sequences_.push_back(std::move(ids));
    return static_cast<SeqId>(sequences_.size() - 1);
  }
  void Release(SeqId) override {}
  void Submit(Request request) override {
    const auto& score = std::get<ScoreRequest>(request.body);
    Completion& done = waiting_.emplace_back();
    done.id = request.id;
    for (const SeqId seq : score.sequences) {
      read.insert(sequences_[static_cast<size_t>(seq)]);
      done.scores.push_back({.step = 0.5f, .path = 0.5f});
      done.rows.push_back({0, 0, 0, 0});
    }
  }
  bool Step(std::vector<Completion>& done) override {
    const bool any = !waiting_.empty();
    for (Completion& one : waiting_) done.push_back(std::move(one));
    waiting_.clear();
    return any;
  }
  void Cancel(RequestId) override {}

  std::set<Ids> read;

 private:
  Capabilities capabilities_;
  BackendStats stats_;
  std::vector<Ids> sequences_ = {{}};
  std::vector<Completion> waiting_;
};

// A method whose steps are given.
class Walk : public SearchAlgorithm {
 public:
  explicit Walk(std::vector<std::string> steps) : steps_(std::move(steps)) {}
  std::string_view name() const override { return "walk"; }
  const std::vector<RequestKind>& needs() const override { return needs_; }
  int models() const override { return 1; }
  int64_t responses_for_an_answer() const override { return 1; }
  std::vector<OptionInfo> options() const override { return {}; }
  Co<> Run(SearchContext& ctx) const override { return Go(ctx, steps_); }

 private:
  static Co<> Go(SearchContext& ctx, const std::vector<std::string>& steps) {
    NodeId node = kRoot;
    for (const std::string& step : steps) {
      const Expansion next = co_await ctx.Expand(node, {.forced = step});
      node = next.samples[0];
      const std::vector<NodeId> one = {node};
      co_await ctx.Evaluate(one);
    }
  }
  const std::vector<std::string> steps_;
  const std::vector<RequestKind> needs_ = {RequestKind::kExpand,
                                           RequestKind::kEvaluate};
};

struct Solution {
  std::string question;
  std::vector<std::string> steps;  // a search's: each ends with the delimiter
};

// Every sequence that searches read for these solutions. `scorer`: null for
// Espalier's own heads.
std::set<Ids> ReadBySearches(const std::vector<Solution>& solutions,
                             const Task& task, const Tokenizer& tokenizer,
                             const RewardScorer* scorer) {
  std::set<Ids> all;
  Executor executor(1);
  for (const Solution& solution : solutions) {
    NotingBackend backend;
    Runner runner({.policy = &backend,
                   .policy_tokenizer = &tokenizer,
                   .critic = &backend,
                   .critic_tokenizer = &tokenizer,
                   .scorer = scorer},
                  executor, 1);
    const std::vector<Problem> problems = {{"1", "set", solution.question}};
    const Walk walk(solution.steps);
    const SearchOptions options{.max_tokens = 0};
    const RunHooks hooks;
    const absl::Status status =
        runner.Run({.problems = problems,
                    .task = &task,
                    .algorithm = &walk,
                    .options = &options,
                    .hooks = &hooks,
                    .on_done = [](size_t, const SearchResult& result) {
                      EXPECT_TRUE(result.status.ok()) << result.status;
                    }});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(backend.read.size(), solution.steps.size());
    all.insert(backend.read.begin(), backend.read.end());
  }
  return all;
}

// What training reads: each sequence up to each token with a label.
std::set<Ids> ReadInTraining(const TrainData& data, Level level) {
  std::set<Ids> all;
  for (const SequenceGroup& group : data.groups) {
    const TrainSequence& s = group[0].sequence;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      if (std::isnan(s.Label(level, t))) continue;
      all.emplace(s.tokens.begin(),
                  s.tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1);
    }
  }
  return all;
}

class LabelledSolutionsTest : public testing::Test {
 protected:
  LabelledSolutionsTest() {
    std::string name = (fs::temp_directory_path() / "labelled_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~LabelledSolutionsTest() override { fs::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path;
  }
  // A tokenizer with control tokens and a begin token, as Llama 3 has them.
  std::string WithBegin() const {
    WriteRewardTokenizer(folder_.string(), "");
    File("tokenizer_config.json",
         R"({"bos_token": "<|begin_of_text|>", "add_bos_token": true})");
    return folder_.string();
  }
  absl::StatusOr<TrainData> Load(const std::string& path, LevelSet levels,
                                 const Tokenizer& tokenizer,
                                 TrainDataOptions options = {}) {
    options.kind = ExampleKind::kSteps;
    options.levels = levels;
    options.contamination.off = true;
    return LoadTrainData(path, options, tokenizer, -1, log_);
  }

  fs::path folder_;
  FilterLog log_;
};

// One file of each published form, with the same two solutions.
constexpr char kProcessBench[] =
    R"([{"id": "a", "problem": "What is 2+3?", "steps": ["2+3 = 5.", "So 6.\n"],
         "final_answer_correct": false, "label": 1},
        {"id": "b", "problem": "Is 7 odd?", "steps": ["7 = 2*3+1\n\n", "Yes."],
         "final_answer_correct": true, "label": -1}])";
constexpr char kPrm800k[] =
    R"({"question": {"problem": "What is 2+3?"}, "label": {"finish_reason": "found_error", "steps": [{"completions": [{"text": "2+3 = 5.", "rating": 1}], "chosen_completion": 0}, {"completions": [{"text": "So 6.", "rating": -1}], "chosen_completion": 0}]}}
{"question": {"problem": "Is 7 odd?"}, "label": {"finish_reason": "solution", "steps": [{"completions": [{"text": "7 = 2*3+1", "rating": 0}], "chosen_completion": 0}, {"completions": [{"text": "Yes.", "rating": 1}], "chosen_completion": 0}]}}
)";
constexpr char kStepwise[] =
    R"({"prompt": "What is 2+3?", "completions": ["2+3 = 5.", "So 6."], "labels": [true, false]}
{"prompt": "Is 7 odd?", "completions": ["7 = 2*3+1", "Yes."], "labels": [1, true]}
)";
constexpr char kShepherd[] =
    "{\"input\": \"What is 2+3? Step 1: 2+3 = 5. ки\\nStep 2: So 6. ки\","
    "\"label\": \"What is 2+3? Step 1: 2+3 = 5. +\\nStep 2: So 6. -\"}\n"
    "{\"input\": \"Is 7 odd? Step 1: 7 = 2*3+1 ки\\nStep 2: Yes. ки\","
    "\"label\": \"Is 7 odd? Step 1: 7 = 2*3+1 +\\nStep 2: Yes. +\"}\n";

std::vector<Solution> Searched(const std::string& delimiter, bool numbered) {
  const std::string one = numbered ? "Step 1: " : "";
  const std::string two = numbered ? "Step 2: " : "";
  return {
      {"What is 2+3?",
       {one + "2+3 = 5." + delimiter, two + "So 6." + delimiter}},
      {"Is 7 odd?", {one + "7 = 2*3+1" + delimiter, two + "Yes." + delimiter}}};
}

TEST_F(LabelledSolutionsTest, TokensAreThoseThatASearchReads) {
  const std::vector<std::pair<std::string, bool>> files = {
      {File("gsm8k.json", kProcessBench), false},
      {File("prm800k.jsonl", kPrm800k), false},
      {File("trl.jsonl", kStepwise), false},
      {File("shepherd.jsonl", kShepherd), true}};
  const auto tokenizer = Tokenizer::Load(WithBegin()).value();
  ASSERT_GE(tokenizer->marks().bos, 0);
  // A chat template with control tokens, and steps that end with two lines.
  Prompt chat = ReadPrompt("instruct").value();
  chat.template_name = "llama3";
  ASSERT_TRUE(ResolvePrompt(folder_.string(), chat).ok());
  ASSERT_EQ(chat.format.delimiter, "\n\n");
  for (const std::string& prompt : {std::string(), PromptText(chat)}) {
    const PromptedTask put = PutTaskBy("qa", prompt).value();
    for (const auto& [file, numbered] : files) {
      const auto data =
          Load(file, Level::kPath, *tokenizer, {.prompt = prompt});
      ASSERT_TRUE(data.ok()) << file << data.status();
      const std::set<Ids> read = ReadInTraining(*data, Level::kPath);
      EXPECT_EQ(read.size(), 4u);
      EXPECT_EQ(read,
                ReadBySearches(Searched(put.task->format().delimiter, numbered),
                               *put.task, *tokenizer, nullptr))
          << file << " " << prompt;
      for (const Ids& ids : read) {
        EXPECT_EQ(ids[0], tokenizer->marks().bos);
      }
    }
  }
}

TEST_F(LabelledSolutionsTest, TokensOfTheTrlLayoutAreThoseThatItsReaderReads) {
  const std::vector<std::pair<std::string, bool>> files = {
      {File("gsm8k.json", kProcessBench), false},
      {File("trl.jsonl", kStepwise), false},
      {File("shepherd.jsonl", kShepherd), true}};
  const auto tokenizer = Tokenizer::Load(WithBegin()).value();
  const RewardFormat format = ReadRewardFormat("trl").value();
  const RewardScorer scorer{
      StepLayout::Create(format, *tokenizer, folder_.string()).value(),
      {{{2, 4, std::vector<float>(8), std::vector<float>(2)}}}};
  const Task* task = FindTask("qa").value();
  for (const auto& [file, numbered] : files) {
    const auto data =
        Load(file, Level::kStep, *tokenizer, {.layout = &scorer.layout});
    ASSERT_TRUE(data.ok()) << file << data.status();
    const std::set<Ids> read = ReadInTraining(*data, Level::kStep);
    EXPECT_EQ(read.size(), 4u);
    EXPECT_EQ(read, ReadBySearches(Searched("\n", numbered), *task, *tokenizer,
                                   &scorer))
        << file;
    // TRL's tokenize_row: begin token, prompt, step, separator, each by itself.
    Ids expected = {tokenizer->marks().bos};
    const std::string first = numbered ? "Step 1: 2+3 = 5." : "2+3 = 5.";
    for (const std::string& part :
         {std::string("What is 2+3?"), first, std::string("\n")}) {
      const Ids ids = tokenizer->Encode(part).value();
      expected.insert(expected.end(), ids.begin(), ids.end());
    }
    EXPECT_TRUE(read.contains(expected)) << file;
  }
}

TEST_F(LabelledSolutionsTest, LevelsWithTheSameLabelsAreOneOutput) {
  const auto tokenizer = Tokenizer::Load(WithBegin()).value();
  // After the first error ProcessBench says nothing of steps, but the path is
  // wrong.
  const std::string file = File(
      "gsm8k.json",
      R"([{"id": "a", "problem": "Q?", "steps": ["a", "b", "c"], "label": 1}])");
  const auto data = Load(file, kStepAndPath | Level::kWindow2, *tokenizer);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->outputs,
            (std::vector<LevelSet>{Level::kPath,
                                   LevelSet(Level::kStep) | Level::kWindow2}));
  EXPECT_EQ(ReadInTraining(*data, Level::kPath).size(), 3u);
  EXPECT_EQ(ReadInTraining(*data, Level::kStep).size(), 2u);
  EXPECT_EQ(ReadInTraining(*data, Level::kWindow2).size(), 0u);
}

TEST_F(LabelledSolutionsTest, WrongInputIsNamed) {
  const auto tokenizer = Tokenizer::Load(WithBegin()).value();
  const auto says = [&](const absl::StatusOr<TrainData>& data,
                        const std::string& word) {
    ASSERT_FALSE(data.ok()) << word;
    EXPECT_NE(data.status().message().find(word), std::string::npos)
        << data.status();
  };
  const std::string trl = File("trl.jsonl", kStepwise);
  says(Load(trl, Level::kOutcome, *tokenizer),
       "no labels for the level outcome");
  const std::string all_right = File(
      "right.jsonl",
      R"({"prompt": "Q?", "completions": ["a", "b"], "labels": [true, true]})");
  says(Load(all_right, Level::kPath, *tokenizer),
       "every label of the level path");
  says(Load(trl, Level::kPath, *tokenizer,
            {.more_databases = {File("x", "{}")}}),
       "several names in --data must be of one kind");
  says(Load(trl, Level::kPath, *tokenizer, {.consensus = true}), "--consensus");
  const std::string lines =
      File("lines.jsonl",
           R"({"prompt":"p\n","completions":["a\n","b\n"],"values":[0,1]})");
  says(Load(lines, Level::kPath, *tokenizer, {.task = "stories"}), "--task");
  const RewardFormat format = ReadRewardFormat("trl").value();
  const StepLayout layout =
      StepLayout::Create(format, *tokenizer, folder_.string()).value();
  says(Load(lines, Level::kPath, *tokenizer, {.layout = &layout}),
       "the question as the user asked it");
  // Bad records are left out and counted.
  const std::string bad =
      File("bad.jsonl",
           std::string(kStepwise) +
               R"({"prompt": "Q", "completions": ["a"], "labels": [2]})");
  log_ = FilterLog();
  ASSERT_TRUE(Load(bad, Level::kPath, *tokenizer).ok());
  EXPECT_NE(log_.Text().find("that can be read: 3 in, 2 out"),
            std::string::npos)
      << log_.Text();
}

}  // namespace
}  // namespace espalier
