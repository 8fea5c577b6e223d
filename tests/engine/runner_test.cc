#include "src/engine/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "espalier/engine.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "search/tree/check_tree.h"
#include "tests/engine/every_method.h"
#include "tests/engine/one_coroutine.h"

namespace espalier {
namespace {

struct Outcome {
  SearchResult result;
  std::string tree;  // all that a search leaves behind, as text
};

std::string TreeText(const Tree& tree) {
  std::string text;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Node& n = tree[id];
    const Step& step = tree.step(id);
    absl::StrAppend(&text, n.parent, "|", std::string(tree.text(id)), "|",
                    n.visits, "|", step.draws, "|", n.q, "|", n.prior, "|",
                    step.logprob, "|", step.path_score, "|", step.step_score,
                    ";");
  }
  return text;
}

struct RunSetup {
  int threads = 1;
  int live = 1;
  int max_delay = 0;
  uint64_t seed = 3;
  int64_t tokens = 200;
  ScriptedOptions script = {};
  const Task* task = nullptr;  // replaces the script's own
};

std::vector<Outcome> RunMethod(const std::string& method, int problems,
                               const RunSetup& setup,
                               RewardModel* reward = nullptr,
                               std::vector<int64_t>* generated = nullptr) {
  const auto algorithm = MakeAlgorithm(method);
  EXPECT_TRUE(algorithm.ok()) << algorithm.status();
  std::vector<Problem> questions;
  for (int i = 0; i < problems; ++i) {
    questions.push_back(
        {absl::StrCat("p", i), "script", absl::StrCat("problem ", i)});
  }
  ScriptedOptions script = setup.script;
  script.max_delay = setup.max_delay;
  ScriptedBackend backend(script);
  // The other models write better, with the same script.
  std::vector<std::unique_ptr<ScriptedBackend>> more;
  std::vector<Backend*> writers;
  for (int k = 1; k < (*algorithm)->models(); ++k) {
    script.skill += 2;
    more.push_back(std::make_unique<ScriptedBackend>(script));
    writers.push_back(more.back().get());
  }
  const ByteTokenizer tokenizer;
  Executor executor(setup.threads);
  std::vector<Outcome> outcomes(questions.size());
  {
    Runner runner({&backend, &tokenizer, &backend, &tokenizer, writers},
                  executor, setup.live);
    const ScriptTask own;
    const SearchOptions options{.method = method,
                                .max_tokens = setup.tokens,
                                .seed = setup.seed,
                                .keep_tree = true};
    const RunHooks hooks{.reward = reward};
    const absl::Status status = runner.Run(
        {.problems = questions,
         .task = setup.task != nullptr ? setup.task : &own,
         .algorithm = algorithm->get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t i, SearchResult r) { outcomes[i].result = r; },
         .on_tree =
             [&](size_t i, const Tree& tree) {
               outcomes[i].tree = TreeText(tree);
               const absl::Status check = CheckTree(tree, InvariantsOf(method));
               EXPECT_TRUE(check.ok()) << method << ": " << check;
             }});
    EXPECT_TRUE(status.ok()) << method << ": " << status;
  }
  EXPECT_EQ(backend.live_sequences(), 0) << method << " leaks sequences";
  for (const auto& writer : more) {
    EXPECT_EQ(writer->live_sequences(), 0) << method << " leaks sequences";
    EXPECT_GT(writer->stats().tokens_generated, 0) << method;
  }
  if (generated != nullptr) {
    generated->push_back(backend.stats().tokens_generated);
    for (const auto& writer : more) {
      generated->push_back(writer->stats().tokens_generated);
    }
  }
  return outcomes;
}

// Methods with one request in flight.
const char* const kRunMethods[] = {
    "greedy",       "sample",    "majority",
    "best_of_n",    "weighted",  "weighted:aggregate=product:level=step",
    "beam:width=1", "guided",    "puct",
    "uct",          "mcts_star", "td_mcts",
    "vm_mcts",      "mctsr",     "ab_mcts_a",
    "ab_mcts_m",
};

TEST(RunnerTest, SameTreesWithManyThreadsConcurrentSearchesAndDelays) {
  for (const std::string& method : EveryMethod()) {
    const auto base = RunMethod(method, 40, {});
    for (const RunSetup& setup :
         {RunSetup{.threads = 2, .live = 32},
          RunSetup{.threads = 8, .live = 32},
          RunSetup{.threads = 2, .live = 32, .max_delay = 7},
          RunSetup{.threads = 1, .live = 5, .max_delay = 3}}) {
      const auto other = RunMethod(method, 40, setup);
      for (size_t i = 0; i < base.size(); ++i) {
        ASSERT_EQ(other[i].tree, base[i].tree) << method << " problem " << i;
        ASSERT_EQ(other[i].result.answer, base[i].result.answer) << method;
      }
    }
  }
}

// A task that blocks its threads until `threads` have arrived.
class GatheringTask : public ScriptTask {
 public:
  explicit GatheringTask(int threads) : threads_(threads) {}
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    {
      std::unique_lock lock(mutex_);
      seen_.insert(std::this_thread::get_id());
      come_.notify_all();
      come_.wait_for(lock, std::chrono::seconds(20),
                     [&] { return seen() >= threads_; });
    }
    return ScriptTask::FindAnswer(response);
  }
  int seen() const { return static_cast<int>(seen_.size()); }

 private:
  const int threads_;
  mutable std::mutex mutex_;
  mutable std::condition_variable come_;
  mutable std::set<std::thread::id> seen_;
};

// All threads resume searches, and the trees stay the same.
TEST(RunnerTest, AllThreadsTakePartAndTheTreesStayTheSame) {
  for (const int threads : {1, 2, 8}) {
    const GatheringTask task(threads);
    const RunSetup base{.live = 32};
    RunSetup setup{.threads = threads, .live = 32, .task = &task};
    const auto expected = RunMethod("majority", 40, base);
    const auto outcomes = RunMethod("majority", 40, setup);
    EXPECT_EQ(task.seen(), threads);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_EQ(outcomes[i].tree, expected[i].tree);
    }
  }
}

// The second model writes three times as well and should be used most.
TEST(RunnerTest, AMethodWithSeveralModelsFindsTheBetterOne) {
  for (const std::string method :
       {"ab_mcts_a:models=2", "ab_mcts_a:models=2:model_choice=ucb",
        "ab_mcts_m:models=2"}) {
    std::vector<int64_t> tokens;
    const RunSetup setup{.tokens = 600, .script = {.skill = 0}};
    const auto both = RunMethod(method, 60, setup, nullptr, &tokens);
    ASSERT_EQ(tokens.size(), 2u);
    EXPECT_GT(tokens[1], tokens[0] * 5 / 4) << method;
    int64_t spent = 0;
    for (const Outcome& o : both) spent += o.result.tokens;
    EXPECT_EQ(tokens[0] + tokens[1], spent) << method;
  }
}

TEST(RunnerTest, AMethodWithMoreModelsThanThereAreIsRefused) {
  const absl::Status status = CheckSearch({.method = "ab_mcts_a:models=3"},
                                          /*graded=*/false, /*models=*/2);
  EXPECT_NE(status.message().find("models=3"), absl::string_view::npos)
      << status;
  EXPECT_NE(status.message().find("more_policies"), absl::string_view::npos);
  EXPECT_TRUE(CheckSearch({.method = "ab_mcts_a:models=3"}, false, 3).ok());
  const auto algorithm = MakeAlgorithm("ab_mcts_a:models=2");
  ScriptedBackend backend({});
  const ByteTokenizer tokenizer;
  Executor executor(1);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const ScriptTask task;
  const SearchOptions options;
  const RunHooks hooks;
  EXPECT_TRUE(
      absl::IsFailedPrecondition(runner.Run({.problems = {},
                                             .task = &task,
                                             .algorithm = algorithm->get(),
                                             .options = &options,
                                             .hooks = &hooks})));
}

TEST(RunnerTest, AnotherSeedGivesOtherTrees) {
  const auto a = RunMethod("majority", 10, {.seed = 1});
  const auto b = RunMethod("majority", 10, {.seed = 2});
  int different = 0;
  for (size_t i = 0; i < a.size(); ++i) different += a[i].tree != b[i].tree;
  EXPECT_GE(different, 9);
}

TEST(RunnerTest, TokenBudgetIsNeverExceededByOneRequestAtATime) {
  for (const char* method : kRunMethods) {
    for (const int64_t tokens : {1, 7, 33, 150}) {
      for (const Outcome& o : RunMethod(method, 5, {.tokens = tokens})) {
        EXPECT_LE(o.result.tokens, tokens) << method;
      }
    }
  }
}

// With several requests in flight, each may exceed the budget by one step.
TEST(RunnerTest, OvershootIsAtMostAStepPerRequestInFlight) {
  for (const Outcome& o : RunMethod("puct:in_flight=4", 10, {.tokens = 60})) {
    EXPECT_LE(o.result.tokens, 60 + 4 * 4 * 16);
  }
}

// The answer at a smaller budget is the one that a search with that budget
// returns.
TEST(RunnerTest, AnytimeAnswersAreThoseOfSmallerBudgets) {
  for (const char* method : {"majority", "best_of_n", "weighted"}) {
    const auto large = RunMethod(method, 12, {.tokens = 200});
    for (const int64_t tokens : {40, 90, 140}) {
      const auto small = RunMethod(method, 12, {.tokens = tokens});
      for (size_t i = 0; i < large.size(); ++i) {
        std::string held;
        for (const AnswerAt& at : large[i].result.anytime) {
          if (at.tokens <= tokens) held = at.answer;
        }
        EXPECT_EQ(held, small[i].result.answer) << method << " " << tokens;
      }
    }
  }
}

// Brute force: the same samples, taken from the backend one response at a time.
TEST(RunnerTest, MajorityIsThePluralityOfTheDrawnAnswers) {
  const auto outcomes = RunMethod("majority:n=9", 20, {.tokens = 100000});
  for (const Outcome& o : outcomes) {
    std::map<std::string, int> counts;
    // The tree has each answer's draws: the draws of its terminal nodes.
    size_t at = 0;
    std::string tree = o.tree;
    while ((at = tree.find("|= ", at)) != std::string::npos) {
      const size_t end = tree.find('\n', at);
      const std::string answer = tree.substr(at + 3, end - at - 3);
      const size_t visits = tree.find('|', end);
      const size_t draws = tree.find('|', visits + 1);
      counts[answer] += std::stoi(tree.substr(draws + 1));
      at = end;
    }
    int total = 0, best = 0;
    for (const auto& [answer, count] : counts) {
      total += count;
      best = std::max(best, count);
    }
    EXPECT_EQ(total, 9);
    EXPECT_EQ(counts[o.result.answer], best);
  }
}

// A judge that knows the truth must make search better than random sampling.
TEST(RunnerTest, SearchWithAGoodJudgeBeatsSampling) {
  ScriptedOptions script{.depth = 6, .reward_noise = 0.05f};
  const RunSetup setup{.live = 16, .tokens = 400, .script = script};
  ScriptedBackend truth(script);
  const ByteTokenizer tokenizer;
  const auto right = [&](const std::vector<Outcome>& outcomes) {
    int count = 0;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const auto prompt =
          tokenizer.Encode(absl::StrCat("problem ", i, "\n")).value();
      const int gold = truth.Gold(truth.Extend(kEmptySeq, prompt));
      count += outcomes[i].result.answer == absl::StrCat(gold);
    }
    return count;
  };
  const int sampled = right(RunMethod("sample", 60, setup));
  EXPECT_GT(right(RunMethod("guided", 60, setup)), sampled + 20);
  EXPECT_GT(right(RunMethod("puct", 60, setup)), sampled + 20);
  EXPECT_GT(right(RunMethod("best_of_n", 60, setup)), sampled);
}

class FixedReward : public RewardModel {
 public:
  explicit FixedReward(float value) : value_(value) {}
  std::string_view name() const override { return "fixed"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem&, absl::Span<const std::string> responses) override {
    return std::vector<StepScores>(responses.size(), {value_, value_});
  }

 private:
  float value_;
};

// If rewards are equal and agreement does not count, a single path continues
// from the most likely sibling.
TEST(RunnerTest, GuidedFollowsTheMostLikelySiblingIfLikelihoodAloneCounts) {
  FixedReward reward(0.5f);
  int choices = 0;
  for (const Outcome& outcome : RunMethod(
           "guided:likelihood=1:frequency=0:accept=0:draft=false:rounds=1:"
           "branch=6",
           20, {.tokens = 100000}, &reward)) {
    const std::vector<TreeNode>& rows = outcome.result.tree;
    for (size_t chosen = 1; chosen < rows.size(); ++chosen) {
      const bool goes_on =
          std::any_of(rows.begin() + 1, rows.end(), [&](const TreeNode& row) {
            return row.parent == static_cast<int>(chosen);
          });
      if (!goes_on) continue;
      for (size_t i = 1; i < rows.size(); ++i) {
        if (rows[i].parent != rows[chosen].parent) continue;
        EXPECT_LE(rows[i].logprob, rows[chosen].logprob);
        choices += i != chosen;
      }
    }
  }
  EXPECT_GT(choices, 100);
}

TEST(RunnerTest, RewardsOutOfRangeAreAClearErrorOfTheirProblem) {
  for (const float value : {std::nanf(""), 1.5f, -0.1f, INFINITY}) {
    FixedReward reward(value);
    for (const char* method : {"best_of_n", "beam", "puct"}) {
      for (const Outcome& o : RunMethod(method, 3, {}, &reward)) {
        EXPECT_EQ(o.result.status.code(), absl::StatusCode::kInvalidArgument);
      }
    }
  }
}

TEST(RunnerTest, ALevelThatTheRewardModelLacksIsRefusedByName) {
  class Counting : public FixedReward {
   public:
    Counting() : FixedReward(0.5f) {}
    absl::StatusOr<std::vector<StepScores>> Score(
        const Problem& problem,
        absl::Span<const std::string> responses) override {
      ++calls;
      return FixedReward::Score(problem, responses);
    }
    int calls = 0;
  } reward;
  const auto refusal = [&](const std::string& method) {
    const auto algorithm = MakeAlgorithm(method).value();
    const std::vector<Problem> questions = {{"p0", "script", "problem 0"}};
    ScriptedBackend backend({});
    const ByteTokenizer tokenizer;
    const ScriptTask task;
    Executor executor(1);
    Runner runner({&backend, &tokenizer, &backend, &tokenizer, {}}, executor,
                  1);
    const SearchOptions options{.method = method, .max_tokens = 100};
    const RunHooks hooks{.reward = &reward};
    const absl::Status status = runner.Run({.problems = questions,
                                            .task = &task,
                                            .algorithm = algorithm.get(),
                                            .options = &options,
                                            .hooks = &hooks,
                                            .on_done = [](size_t, auto) {}});
    EXPECT_EQ(reward.calls > 0, status.ok());
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("puct:level=window2"), testing::HasSubstr("window2"));
  EXPECT_THAT(refusal("beam:level=outcome"), testing::HasSubstr("outcome"));
  EXPECT_THAT(refusal("weighted:aggregate=window"),
              testing::HasSubstr("window2"));
  EXPECT_THAT(refusal("mur:by=reward:level=window3"),
              testing::HasSubstr("window3"));
  EXPECT_THAT(refusal("guided:aggregate=learned"),
              testing::HasSubstr("weights"));
  for (const char* method : {"beam", "tot_dfs", "puct", "weighted", "mur"}) {
    const std::string with =
        absl::StrCat(method, method == std::string("mur") ? ":by=reward" : "",
                     ":lower_confidence=0.5");
    EXPECT_THAT(refusal(with), testing::HasSubstr("lower_confidence 0.5"));
    EXPECT_THAT(refusal(with), testing::HasSubstr("--ensemble"));
  }
  EXPECT_EQ(refusal("guided:aggregate=learned:weights=step=1"), "");
  EXPECT_EQ(refusal("puct:lower_confidence=0"), "");
}

// Of two kinds of steps the one with the higher mean is the less certain.
TEST(RunnerTest, LowerConfidencePrefersWhatIsCertain) {
  class Ensemble : public RewardModel {
   public:
    std::string_view name() const override { return "ensemble"; }
    LevelSet levels() const override { return kStepAndPath.WithSpread(); }
    absl::StatusOr<std::vector<StepScores>> Score(
        const Problem&, absl::Span<const std::string> responses) override {
      std::vector<StepScores> scores;
      for (const std::string& response : responses) {
        const bool even = response.size() % 2 == 0;
        StepScores& one = scores.emplace_back();
        one.step = one.path = even ? 0.75f : 0.5f;
        one.spread_of(Level::kPath) = even ? 0.5f : 0;
        one.spread_of(Level::kStep) = one.spread_of(Level::kPath);
      }
      return scores;
    }
  } reward;
  int differ = 0;
  for (const auto& [b, even, odd] :
       {std::tuple("0", 0.75f, 0.5f), std::tuple("1", 0.25f, 0.5f),
        std::tuple("2", 0.0f, 0.5f)}) {
    const auto outcomes = RunMethod(
        absl::StrCat("best_of_n:n=8:lower_confidence=", b), 20, {}, &reward);
    for (const Outcome& o : outcomes) {
      ASSERT_TRUE(o.result.status.ok()) << o.result.status;
      float best = 0, of_chosen = -1;
      for (const TreeNode& node : o.result.tree) {
        if (std::isnan(node.path_score)) continue;
        EXPECT_TRUE(node.path_score == even || node.path_score == odd) << b;
        if (node.kind == NodeKindName(NodeKind::kAnswer)) {
          best = std::max(best, node.path_score);
        }
      }
      of_chosen = o.result.response.size() % 2 == 0 ? even : odd;
      EXPECT_EQ(of_chosen, best) << b;
      differ += of_chosen == odd;
    }
  }
  EXPECT_GT(differ, 0);
}

TEST(RunnerTest, EqualRewardsStillGiveAnAnswer) {
  FixedReward reward(0.5f);
  for (const char* method : {"best_of_n", "weighted", "beam", "puct"}) {
    for (const Outcome& o : RunMethod(method, 5, {}, &reward)) {
      EXPECT_FALSE(o.result.answer.empty()) << method;
    }
  }
}

class GoldVerifier : public Verifier {
 public:
  std::string_view name() const override { return "gold"; }
  bool intrinsic() const override { return false; }
  Verdict Check(const Problem&, const Reference&,
                std::string_view) const override {
    return {};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return std::vector<StepVerdict>();
  }
};

TEST(RunnerTest, AVerifierThatReadsTheReferenceIsRefused) {
  ScriptedBackend backend({});
  const ByteTokenizer tokenizer;
  Executor executor(1);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const GoldVerifier verifier;
  const RunHooks hooks{.verifier = &verifier};
  const SearchOptions options;
  const ScriptTask task;
  const auto algorithm = MakeAlgorithm("greedy").value();
  EXPECT_FALSE(runner
                   .Run({.task = &task,
                         .algorithm = algorithm.get(),
                         .options = &options,
                         .hooks = &hooks,
                         .on_done = [](size_t, SearchResult) {}})
                   .ok());
}

// Records the requests that it gets.
class NotingBackend : public ScriptedBackend {
 public:
  using ScriptedBackend::ScriptedBackend;
  void Submit(Request request) override {
    if (const auto* body = std::get_if<GenerateRequest>(&request.body)) {
      asked.push_back(*body);
    }
    ScriptedBackend::Submit(std::move(request));
  }
  std::vector<GenerateRequest> asked;
};

// Two requests for a step: with the options of the search, and with their own.
Co<> AskTwice(SearchContext& ctx) {
  co_await ctx.Expand(kRoot, {});
  static constexpr std::string_view kStops[] = {"7", "zz"};
  co_await ctx.Expand(
      kRoot, {.max_tokens = 2,
              .filter = SampleFilter{.top_k = 1, .top_p = 0.5f, .min_p = 0.1f},
              .stop_strings = kStops});
}

Co<> AskForHidden(SearchContext& ctx) {
  co_await ctx.Expand(kRoot, {.hidden = true});
}

TEST(RunnerTest, HiddenStatesOfAModelThatHasNoneAreAClearError) {
  ScriptedBackend backend({});
  const ByteTokenizer tokenizer;
  Executor executor(1);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const std::vector<Problem> problems = {{"p", "script", "q"}};
  const RunHooks hooks;
  const SearchOptions options;
  const ScriptTask task;
  const OneCoroutine algorithm(&AskForHidden);
  absl::Status status;
  ASSERT_TRUE(runner
                  .Run({.problems = problems,
                        .task = &task,
                        .algorithm = &algorithm,
                        .options = &options,
                        .hooks = &hooks,
                        .on_done =
                            [&](size_t, SearchResult result) {
                              status = result.status;
                            }})
                  .ok());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("hidden states"), std::string::npos)
      << status;
}

TEST(RunnerTest, ARequestHasFiltersStopStringsAndALengthOfItsOwn) {
  NotingBackend backend(ScriptedOptions{});
  const ByteTokenizer tokenizer;
  Executor executor(1);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const std::vector<Problem> problems = {{"p", "script", "q"}};
  const RunHooks hooks;
  const SearchOptions options{.top_k = 5, .top_p = 0.9f, .min_p = 0.01f};
  const ScriptTask task;
  const OneCoroutine algorithm(&AskTwice);
  ASSERT_TRUE(runner
                  .Run({.problems = problems,
                        .task = &task,
                        .algorithm = &algorithm,
                        .options = &options,
                        .hooks = &hooks,
                        .on_done =
                            [](size_t, const SearchResult& result) {
                              EXPECT_TRUE(result.status.ok());
                            }})
                  .ok());
  ASSERT_EQ(backend.asked.size(), 2u);
  const GenerateRequest& shared = backend.asked[0];
  const GenerateRequest& own = backend.asked[1];
  EXPECT_EQ(shared.sampling.top_k, 5);
  EXPECT_EQ(shared.sampling.top_p, 0.9f);
  EXPECT_EQ(shared.sampling.min_p, 0.01f);
  EXPECT_EQ(shared.stop.stop_strings, task.format().stop_strings);
  EXPECT_EQ(own.sampling.top_k, 1);
  EXPECT_EQ(own.sampling.top_p, 0.5f);
  EXPECT_EQ(own.sampling.min_p, 0.1f);
  EXPECT_EQ(own.stop.max_tokens, 2);
  std::vector<std::string> stops = task.format().stop_strings;
  stops.insert(stops.end(), {"7", "zz"});
  EXPECT_EQ(own.stop.stop_strings, stops);
}

// Progress reports match the state of the search and do not change it.
TEST(RunnerTest, ProgressIsReportedAndChangesNothing) {
  for (const char* method : {"weighted", "beam", "puct:in_flight=4"}) {
    const auto base = RunMethod(method, 6, {});
    const auto algorithm = MakeAlgorithm(method).value();
    std::vector<Problem> problems;
    for (int i = 0; i < 6; ++i) {
      problems.push_back(
          {absl::StrCat("p", i), "script", absl::StrCat("problem ", i)});
    }
    ScriptedBackend backend({});
    const ByteTokenizer tokenizer;
    Executor executor(2);
    Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 3);
    const ScriptTask task;
    const SearchOptions options{
        .method = method, .max_tokens = 200, .seed = 3, .keep_tree = true};
    std::map<size_t, SearchSnapshot> last;
    std::map<size_t, SearchResult> results;
    RunHooks hooks;
    hooks.progress_interval = 0;
    hooks.on_progress = [&](size_t i, const SearchSnapshot& shot) {
      EXPECT_EQ(results.count(i), 0u) << "reported after its end";
      EXPECT_GE(shot.tokens, last[i].tokens);
      EXPECT_TRUE(shot.steps.empty() == shot.first.empty());
      for (size_t c = 1; c < shot.first.size(); ++c) {
        EXPECT_GE(shot.first[c - 1].visits, shot.first[c].visits);
      }
      if (!shot.answer.empty()) {
        EXPECT_TRUE(shot.steps.back().terminal);
      }
      last[i] = shot;
    };
    ASSERT_TRUE(
        runner
            .Run({.problems = problems,
                  .task = &task,
                  .algorithm = algorithm.get(),
                  .options = &options,
                  .hooks = &hooks,
                  .on_done = [&](size_t i, SearchResult r) { results[i] = r; }})
            .ok());
    ASSERT_EQ(results.size(), 6u);
    EXPECT_EQ(last.size(), 6u);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(results[i].answer, base[i].result.answer);
      EXPECT_EQ(results[i].response, base[i].result.response);
      EXPECT_EQ(results[i].tokens, base[i].result.tokens);
      EXPECT_EQ(results[i].nodes, base[i].result.nodes);
      EXPECT_GT(last[i].tokens, 0);
      EXPECT_LE(last[i].tokens, results[i].tokens);
    }
  }
}

TEST(RunnerTest, StopsAndBudgetsReachTheSearch) {
  SearchOptions options{.max_tokens = 0, .max_bytes = 1};
  EXPECT_TRUE(CheckSearch(options).ok());
  options = {.max_tokens = 0, .max_model_calls = 1};
  EXPECT_TRUE(CheckSearch(options).ok());
  options.max_model_calls = 0;
  EXPECT_FALSE(CheckSearch(options).ok()) << "nothing bounds the method";
  options.max_bytes = -1;
  EXPECT_FALSE(CheckSearch(options).ok());
  options = {.stop_confidence = 1.5f};
  EXPECT_FALSE(CheckSearch(options).ok());
}

TEST(RunnerTest, AStopEndsAllSearchesWithWhatTheyHave) {
  std::atomic<bool> stop{false};
  ScriptedBackend backend({.max_delay = 3});
  const ByteTokenizer tokenizer;
  Executor executor(2);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 8);
  std::vector<Problem> problems;
  for (int i = 0; i < 50; ++i) {
    problems.push_back({absl::StrCat(i), "s", absl::StrCat("problem ", i)});
  }
  const SearchOptions options{.max_tokens = 1000000};
  const RunHooks hooks{.stop = &stop};
  const ScriptTask task;
  const auto algorithm = MakeAlgorithm("majority").value();
  int answered = 0, done = 0;
  SearchOptions limited = options;
  limited.max_simulations = 5;
  ASSERT_TRUE(runner
                  .Run({.problems = problems,
                        .task = &task,
                        .algorithm = algorithm.get(),
                        .options = &limited,
                        .hooks = &hooks,
                        .on_done =
                            [&](size_t, SearchResult r) {
                              ++done;
                              answered += !r.answer.empty();
                              if (done == 10) stop = true;
                            }})
                  .ok());
  EXPECT_GE(done, 10);
  EXPECT_LT(done, 50);
  EXPECT_GE(answered, 10);
  EXPECT_EQ(backend.live_sequences(), 0);
}

}  // namespace
}  // namespace espalier
