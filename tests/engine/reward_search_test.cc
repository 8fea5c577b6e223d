// Searches that reward models of published formats steer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "espalier/registry.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "search/tree/check_tree.h"
#include "src/engine/runner.h"
#include "tests/models/testing/published_reward.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

constexpr char kZoo[] = "models/zoo/stories";
constexpr char kStory[] =
    "Ann has 23 shells. She finds 48 more. How many shells does Ann have now?";

// How a user names a checkpoint of this format: not at all if it is recognised.
std::string Named(const std::string& format) {
  return ReadRewardFormat(format)->only_by_name ? format : "";
}

SearchResult Solve(const RewardCheckpoint& model, const std::string& format,
                   int threads, const std::string& method) {
  auto engine = Engine::Create({.policy = kZoo,
                                .critic = model.folder,
                                .reward_format = Named(format),
                                .threads = threads,
                                .kv_bytes = 64 << 20});
  EXPECT_TRUE(engine.ok()) << format << engine.status();
  if (!engine.ok()) return {.status = engine.status()};
  const Task* task = FindTask("stories").value();
  return (*engine)->Solve({"1", "stories", kStory}, *task,
                          {.method = method, .max_tokens = 400, .seed = 3});
}

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string Prompt(const Problem& problem) {
  return FindTask("stories").value()->Render(problem).value();
}

// The scores of the chosen response's steps are the published ones.
void ExpectPublished(const SearchResult& result, const RewardCheckpoint& model,
                     const std::string& format) {
  ASSERT_TRUE(result.status.ok()) << format << result.status;
  const PublishedReward published(format, model);
  // These take the policy's prompt.
  const bool as_written = format == "prorag" || format == "laser";
  std::vector<std::string> steps;
  double lowest = 1;
  int compared = 0;
  for (const TreeNode& node : result.steps) {
    if (!Trimmed(node.text).empty()) steps.push_back(Trimmed(node.text));
    std::vector<std::string> read = steps;
    if (published.outcome()) {
      std::string all;
      for (const TreeNode& above : result.steps) {
        all += above.text;
        if (&above == &node) break;
      }
      read = {as_written ? all : Trimmed(all)};
    }
    const std::string question =
        as_written ? Prompt({"1", "stories", kStory}) : kStory;
    const double value = published.Score(question, read);
    lowest = std::min(lowest, value);
    if (std::isnan(node.step_score)) continue;
    ++compared;
    EXPECT_NEAR(node.step_score, value, 1e-4) << format << node.text;
    EXPECT_NEAR(node.path_score,
                published.outcome() || published.windows() ? value : lowest,
                1e-4);
  }
  EXPECT_GT(compared, 0) << format;
}

class RewardSearchTest : public testing::TestWithParam<std::string> {};

TEST_P(RewardSearchTest, SolvesWithAForeignTokenizer) {
  const RewardCheckpoint model = WriteRewardCheckpoint(GetParam(), 11);
  const SearchResult result = Solve(model, GetParam(), 1, "beam:branch=3");
  ExpectPublished(result, model, GetParam());
  const SearchResult again = Solve(model, GetParam(), 2, "beam:branch=3");
  EXPECT_EQ(again.response, result.response);
  EXPECT_EQ(again.score, result.score);
}

INSTANTIATE_TEST_SUITE_P(Formats, RewardSearchTest,
                         testing::ValuesIn(OneReadingNames()),
                         [](const auto& info) { return info.param; });

TEST(RewardSearchOneTest, SolvesWithThePolicysTokenizer) {
  for (const char* format : {"trl", "pure", "skywork_prm", "reasoneval"}) {
    const RewardCheckpoint model = WriteRewardCheckpoint(format, 12, kZoo);
    for (const char* method : {"guided", "mcts_star", "weighted"}) {
      ExpectPublished(Solve(model, format, 2, method), model, format);
    }
  }
}

TEST(RewardSearchOneTest, TokensOfTheRewardModelAreCounted) {
  const Task* task = FindTask("stories").value();
  for (const char* format : {"trl", "skywork_reward_llama"}) {
    const RewardCheckpoint model = WriteRewardCheckpoint(format, 14);
    const auto engine = Engine::Create({.policy = kZoo,
                                        .critic = model.folder,
                                        .threads = 1,
                                        .kv_bytes = 64 << 20})
                            .value();
    EXPECT_EQ(engine->stats().reward_tokens, 0);
    const SearchResult result = engine->Solve(
        {"1", "stories", kStory}, *task,
        {.method = "beam:branch=3", .max_tokens = 400, .seed = 3});
    ASSERT_TRUE(result.status.ok()) << result.status;
    const EngineStats stats = engine->stats();
    // How many depends on the kernel path.
    EXPECT_GT(stats.reward_tokens, 50);
    EXPECT_LT(stats.reward_tokens, stats.tokens_computed);
    // Only what closes a chat message is read again.
    EXPECT_EQ(stats.reward_tokens_again > 0,
              std::string(format) == "skywork_reward_llama");
  }
}

TEST(RewardSearchOneTest, OwnHeadsScoreAPolicyWithAnotherTokenizer) {
  const std::string folder = TempFolder();
  TrunkConfig config = TinyConfig();
  config.vocab_size = 300;
  config.context_length = 2048;
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 31, DType::kF32).ok());
  WriteRewardTokenizer(folder, "");
  const auto engine = Engine::Create(
      {.policy = kZoo, .critic = folder, .threads = 1, .kv_bytes = 64 << 20});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const Task* task = FindTask("stories").value();
  const Problem problem = {"1", "stories", kStory};
  const SearchResult result = (*engine)->Solve(
      problem, *task,
      {.method = "beam:branch=3", .max_tokens = 400, .seed = 3});
  ASSERT_TRUE(result.status.ok()) << result.status;
  const PlainNetwork network(folder);
  const auto tokenizer = Tokenizer::Load(folder).value();
  std::string text = task->Render(problem).value();
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  int compared = 0;
  for (const TreeNode& node : result.steps) {
    text += node.text;
    if (std::isnan(node.step_score)) continue;
    const auto ids = tokenizer->Encode(text).value();
    const auto scores = network.Scores(network.Hidden(ids).back());
    EXPECT_NEAR(node.step_score, logistic(scores[0]), 1e-4) << node.text;
    EXPECT_NEAR(node.path_score, logistic(scores[1]), 1e-4) << node.text;
    ++compared;
  }
  EXPECT_GT(compared, 1);
}

TEST(RewardSearchOneTest, AnEnsembleScoresAPolicyWithAnotherTokenizer) {
  const std::string folder = TempFolder();
  TrunkConfig config = TinyConfig();
  config.vocab_size = 300;
  config.context_length = 2048;
  config.reward_ensemble = 2;
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 32, DType::kF32).ok());
  WriteRewardTokenizer(folder, "");
  const auto engine = Engine::Create(
      {.policy = kZoo, .critic = folder, .threads = 1, .kv_bytes = 64 << 20});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const Task* task = FindTask("stories").value();
  const Problem problem = {"1", "stories", kStory};
  const SearchResult result =
      (*engine)->Solve(problem, *task,
                       {.method = "beam:branch=3:lower_confidence=0.5",
                        .max_tokens = 400,
                        .seed = 3});
  ASSERT_TRUE(result.status.ok()) << result.status;
  const PlainNetwork network(folder);
  const auto tokenizer = Tokenizer::Load(folder).value();
  std::string text = task->Render(problem).value();
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  int compared = 0;
  for (const TreeNode& node : result.steps) {
    text += node.text;
    if (std::isnan(node.step_score)) continue;
    const auto ids = tokenizer->Encode(text).value();
    const auto z = network.Scores(network.Hidden(ids).back());
    // Of two heads the deviation is half their distance.
    const auto lower = [&](size_t output) {
      const double a = logistic(z[output]), b = logistic(z[2 + output]);
      return (a + b) / 2 - 0.5 * std::abs(a - b) / 2;
    };
    EXPECT_NEAR(node.step_score, lower(0), 1e-4) << node.text;
    EXPECT_NEAR(node.path_score, lower(1), 1e-4) << node.text;
    ++compared;
  }
  EXPECT_GT(compared, 1);
}

TEST(RewardSearchOneTest, AutoTakesASearchThatReadsScores) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 13);
  const SearchResult result = Solve(model, "trl", 1, "auto");
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.configuration, HasSubstr("guided"));
}

// ---------------------------------------------------------------------------
// Two models, and verdicts that are written

// A shipped format with its texts shortened, as a file of one's own.
std::string ShortVerdicts(const std::string& name) {
  std::string text =
      ReadFile("models/reward/formats/" + name + ".textproto").value();
  for (const char* tokens : {"tokens: 8172", "tokens: 2048"}) {
    const size_t at = text.find(tokens);
    if (at != text.npos) text.replace(at, 12, "tokens: 9");
  }
  const std::string file = TempFolder() + "/" + name + ".textproto";
  std::ofstream(file) << text;
  return file;
}

SearchResult SolveWhole(const EngineOptions& options, int threads,
                        const std::string& method,
                        int64_t max_verdict_tokens = 0) {
  EngineOptions all = options;
  all.policy = kZoo;
  all.threads = threads;
  all.kv_bytes = 64 << 20;
  const auto engine = Engine::Create(all);
  EXPECT_TRUE(engine.ok()) << engine.status();
  if (!engine.ok()) return {.status = engine.status()};
  return (*engine)->Solve({"1", "stories", kStory},
                          *FindTask("stories").value(),
                          {.method = method,
                           .max_tokens = 300,
                           .max_verdict_tokens = max_verdict_tokens,
                           .seed = 3,
                           .keep_tree = true});
}

std::string TreeText(const SearchResult& result) {
  std::string text;
  for (const TreeNode& node : result.tree) {
    absl::StrAppend(&text, node.parent, "|", node.text, "|", node.step_score,
                    "|", node.path_score, ";");
  }
  return text;
}

TEST(RewardSearchOneTest, WrittenVerdictsDoNotDependOnThreads) {
  for (const char* format : {"thinkprm", "genprm"}) {
    const RewardCheckpoint model = WriteRewardCheckpoint(format, 21);
    const EngineOptions options{
        .critic = model.folder,
        .reward_format = ShortVerdicts(format) + ":votes=2"};
    const SearchResult one = SolveWhole(options, 1, "beam:branch=3");
    ASSERT_TRUE(one.status.ok()) << one.status;
    EXPECT_GT(one.verdict_tokens, 50);
    EXPECT_LE(one.tokens, 300);  // verdicts cost no tokens of the policy
    const SearchResult two = SolveWhole(options, 2, "beam:branch=3");
    EXPECT_EQ(TreeText(one), TreeText(two));
    EXPECT_EQ(one.verdict_tokens, two.verdict_tokens);
    for (const int64_t budget : {1, 60, 150}) {
      const SearchResult few = SolveWhole(options, 1, "beam:branch=3", budget);
      ASSERT_TRUE(few.status.ok()) << few.status;
      EXPECT_THAT(few.stop_reason, HasSubstr("verdict tokens"));
      EXPECT_LE(few.verdict_tokens, budget);
      EXPECT_LT(few.verdict_tokens, one.verdict_tokens);
      const SearchResult same = SolveWhole(options, 2, "beam:branch=3", budget);
      EXPECT_EQ(TreeText(few), TreeText(same));
      EXPECT_EQ(few.verdict_tokens, same.verdict_tokens);
    }
  }
}

TEST(RewardSearchOneTest, TwoModelsSteerASearch) {
  const RewardCheckpoint model = WriteRewardCheckpoint("implicit_prm", 22);
  const RewardCheckpoint reference = WriteRewardCheckpoint("implicit_prm", 23);
  EngineOptions options{.critic = model.folder,
                        .reward_format = "implicit_prm",
                        .reference = reference.folder};
  for (const char* method : {"beam:branch=3", "mcts_star"}) {
    const SearchResult one = SolveWhole(options, 1, method);
    ASSERT_TRUE(one.status.ok()) << one.status;
    EXPECT_EQ(one.verdict_tokens, 0);
    EXPECT_EQ(TreeText(one), TreeText(SolveWhole(options, 2, method)));
  }
  EXPECT_THAT(
      std::string(SolveWhole(options, 1, "beam:branch=3", 10).status.message()),
      HasSubstr("no reward model that writes its verdicts"));
  const SearchResult one = SolveWhole(options, 1, "beam:branch=3");
  options.reference = model.folder;
  const SearchResult same = SolveWhole(options, 1, "beam:branch=3");
  int scored = 0;
  for (const TreeNode& node : same.tree) {
    if (std::isnan(node.step_score)) continue;
    EXPECT_EQ(node.step_score, 0.5f);  // nothing to choose between
    EXPECT_EQ(node.path_score, 0.5f);
    ++scored;
  }
  EXPECT_GT(scored, 3);
  EXPECT_NE(TreeText(one), TreeText(same));
}

// ---------------------------------------------------------------------------
// What is refused before a search begins

std::string CreateError(const EngineOptions& options) {
  const auto engine = Engine::Create(options);
  return engine.ok() ? "" : std::string(engine.status().message());
}

TEST(RewardSearchErrorTest, FolderWithoutARewardModelSaysWhatWasLookedFor) {
  const RewardCheckpoint model = WriteRewardCheckpoint("math_psa", 1);
  EXPECT_THAT(
      CreateError({.policy = kZoo, .critic = model.folder}),
      testing::AllOf(HasSubstr(model.folder), HasSubstr("no reward model"),
                     HasSubstr("reward_head.weight"), HasSubstr("qwen_prm"),
                     HasSubstr("--reward-format")));
}

TEST(RewardSearchErrorTest, FormatWithoutARewardModelIsRefused) {
  EXPECT_THAT(CreateError({.policy = kZoo, .reward_format = "trl"}),
              HasSubstr("no reward model; name its folder by --reward-model"));
}

TEST(RewardSearchErrorTest, ReferenceModelGoesWithAFormatThatComparesTwo) {
  const RewardCheckpoint model = WriteRewardCheckpoint("implicit_prm", 1);
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "implicit_prm"}),
              testing::AllOf(HasSubstr("implicit_prm compares"),
                             HasSubstr("--reference-model")));
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "math_psa",
                           .reference = model.folder}),
              HasSubstr("math_psa reads one model"));
  EXPECT_THAT(
      CreateError({.policy = kZoo, .critic = kZoo, .reference = model.folder}),
      HasSubstr("have no use for a reference model"));
  EXPECT_THAT(CreateError({.policy = kZoo, .reference = model.folder}),
              HasSubstr("name its folder by --reward-model"));
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "implicit_prm",
                           .reference = kZoo}),
              HasSubstr("share the reward model's tokenizer"));
}

TEST(RewardSearchErrorTest, UnknownFormatSuggestsTheNearest) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 1);
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "qwen_pmr"}),
              HasSubstr("did you mean \"qwen_prm\""));
}

TEST(RewardSearchErrorTest, MissingHeadTensorsAreNamed) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 1);
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "qwen_prm"}),
              HasSubstr("score.0.weight [h, h], found none"));
}

TEST(RewardSearchErrorTest, ModelWithoutLanguageHeadHasNoChoices) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 1);
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "math_psa"}),
              HasSubstr("expected tensor lm_head.weight"));
}

TEST(RewardSearchErrorTest, TagOfSeveralTokensIsNamed) {
  const RewardCheckpoint model = WriteRewardCheckpoint("versa_prm", 1, kZoo);
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "versa_prm"}),
              testing::AllOf(HasSubstr("versa_prm: the tag \" \\n\\n\\n\\n\""),
                             HasSubstr("expected one token")));
}

TEST(RewardSearchErrorTest, FormatFileWithUnknownKeysIsNamedWithItsLine) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 1);
  const std::string file = TempFolder() + "/own.textproto";
  std::ofstream(file) << "layout: IDS\nseparator: \"\\n\"\n";
  EXPECT_THAT(
      CreateError(
          {.policy = kZoo, .critic = model.folder, .reward_format = file}),
      testing::AllOf(HasSubstr("own.textproto:2"), HasSubstr("separator")));
}

TEST(RewardSearchErrorTest, NetworkThatDoesNotRunIsNamed) {
  const RewardCheckpoint model = WriteRewardCheckpoint("qwen_prm", 1);
  const std::string file = model.folder + "/config.json";
  auto config = nlohmann::json::parse(ReadFile(file).value());
  config["architectures"] = {"InternLM2ForRewardModel"};
  config["model_type"] = "internlm2";
  std::ofstream(file) << config.dump();
  EXPECT_THAT(CreateError({.policy = kZoo,
                           .critic = model.folder,
                           .reward_format = "qwen_prm"}),
              HasSubstr("InternLM2ForRewardModel"));
}

TEST(RewardSearchErrorTest, QuestionLongerThanTheCriticsContextFailsAlone) {
  const RewardCheckpoint model = WriteRewardCheckpoint("trl", 1);
  const std::string file = model.folder + "/config.json";
  auto config = nlohmann::json::parse(ReadFile(file).value());
  config["max_position_embeddings"] = 40;
  std::ofstream(file) << config.dump();
  const SearchResult result = Solve(model, "trl", 1, "guided");
  EXPECT_THAT(std::string(result.status.message()),
              testing::AllOf(HasSubstr("the question takes"),
                             HasSubstr("context is 40")));
}

// ---------------------------------------------------------------------------
// A scripted policy and critic

constexpr char kTagged[] = R"(layout: TEXT
question_suffix: ";"
tag: "|"
read: AT_TAG
head { weight: "w" }
labels: 1
squash: SIGMOID
range: PROBABILITY
)";

struct ScriptedRun {
  std::vector<std::string> trees;
  std::vector<SearchResult> results;
  int live = 0;  // sequences left in the critic
};

ScriptedRun RunScripted(const std::string& format, int threads, int delay,
                        const std::string& method) {
  const ByteTokenizer tokenizer;
  ScriptedBackend policy({.seed = 2, .max_delay = delay});
  ScriptedBackend critic({.seed = 9, .hidden_size = 3, .max_delay = delay});
  RewardHead head;
  head.layers.push_back(
      {.outputs = 1, .inputs = 3, .weight = {2, -1, 1}, .bias = {}});
  const RewardScorer scorer{
      StepLayout::Create(ParseRewardFormat(format, "t", "tagged").value(),
                         tokenizer, "")
          .value(),
      head};
  Executor executor(threads);
  std::vector<Problem> problems;
  for (int i = 0; i < 12; ++i) {
    problems.push_back(
        {absl::StrCat(i), "s",
         absl::StrCat("problem ", std::string(1, static_cast<char>('a' + i)))});
  }
  ScriptedRun run;
  run.trees.resize(problems.size());
  run.results.resize(problems.size());
  {
    Runner runner({.policy = &policy,
                   .policy_tokenizer = &tokenizer,
                   .critic = &critic,
                   .critic_tokenizer = &tokenizer,
                   .scorer = &scorer},
                  executor, threads == 1 ? 1 : 5);
    const ScriptTask task;
    const auto algorithm = MakeAlgorithm(method).value();
    const SearchOptions options{.method = method, .max_tokens = 200, .seed = 3};
    const RunHooks hooks;
    const absl::Status status = runner.Run(
        {.problems = problems,
         .task = &task,
         .algorithm = algorithm.get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t i, SearchResult r) { run.results[i] = r; },
         .on_tree =
             [&](size_t i, const Tree& tree) {
               EXPECT_TRUE(CheckTree(tree).ok());
               for (NodeId id = 0; id < tree.size(); ++id) {
                 absl::StrAppend(&run.trees[i], std::string(tree.text(id)), "|",
                                 tree.step(id).step_score, "|",
                                 tree.step(id).path_score, ";");
               }
             }});
    EXPECT_TRUE(status.ok()) << status;
  }
  run.live = critic.live_sequences();
  return run;
}

TEST(RewardRunnerTest, TreesDoNotDependOnDelaysThreadsOrOtherSearches) {
  for (const char* method : {"beam:branch=3", "puct", "rest_mcts", "guided"}) {
    if (!MakeAlgorithm(method).ok()) continue;
    const ScriptedRun plain = RunScripted(kTagged, 1, 0, method);
    const ScriptedRun mixed = RunScripted(kTagged, 4, 7, method);
    EXPECT_EQ(plain.trees, mixed.trees) << method;
    EXPECT_GT(plain.trees[0].size(), 100u);
    EXPECT_EQ(plain.live, 0);
    EXPECT_EQ(mixed.live, 0);
    for (const SearchResult& result : plain.results) {
      EXPECT_TRUE(result.status.ok()) << result.status;
    }
  }
}

TEST(RewardRunnerTest, StepWithTheTagFailsItsSearchByName) {
  std::string format = kTagged;
  format.replace(format.find('|'), 1, "1");  // the policy writes "s1"
  const ScriptedRun run = RunScripted(format, 2, 0, "beam:branch=3");
  int failed = 0;
  for (const SearchResult& result : run.results) {
    if (result.status.ok()) continue;
    ++failed;
    EXPECT_THAT(std::string(result.status.message()),
                testing::AllOf(HasSubstr("\"s1\" contains the tag \"1\""),
                               HasSubstr("tagged")));
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(run.live, 0);
}

}  // namespace
}  // namespace espalier
