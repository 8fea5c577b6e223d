// Searches whose next samples are drawn while scores are under way: the trees
// of the searches without.
#include "src/engine/speculation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "src/engine/load_model.h"
#include "src/engine/runner.h"
#include "tests/engine/every_method.h"

namespace espalier {
namespace {

struct Speculated {
  std::string text;  // all that a search leaves behind
  SearchResult result;
  int64_t generated = 0;  // by the policy
  double waits = 0;       // rounds of the models
};

// Answers each request after `latency` rounds, however many there are.
class Late : public Backend {
 public:
  Late(Backend& inner, int latency) : inner_(inner), latency_(latency) {}
  const Capabilities& capabilities() const override {
    return inner_.capabilities();
  }
  const BackendStats& stats() const override { return inner_.stats(); }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override {
    return inner_.Extend(parent, tokens);
  }
  void Release(SeqId seq) override { inner_.Release(seq); }
  void Submit(Request request) override {
    held_.emplace_back(round_ + latency_, std::move(request));
  }
  bool Step(std::vector<Completion>& done) override {
    ++round_;
    while (!held_.empty() && held_.front().first <= round_) {
      inner_.Submit(std::move(held_.front().second));
      held_.pop_front();
    }
    return inner_.Step(done) || !held_.empty();
  }
  void Cancel(RequestId id) override {
    std::erase_if(held_, [id](const auto& one) { return one.second.id == id; });
    inner_.Cancel(id);
  }
  int rounds() const { return round_; }

 private:
  Backend& inner_;
  const int latency_;
  int round_ = 0;
  std::deque<std::pair<int, Request>> held_;
};

std::string ChosenText(const SearchResult& result) {
  std::string text = absl::StrCat(result.answer, "|", result.response, "|",
                                  result.tokens, "|", result.score, "|",
                                  result.model_calls, "|", result.stop_reason);
  for (const TreeNode& node : result.tree) {
    absl::StrAppend(&text, ";", node.parent, "|", node.text, "|", node.visits,
                    "|", node.draws, "|", node.path_score, "|", node.logprob,
                    "|", node.q);
  }
  return text;
}

Speculated RunOne(const std::string& method, int speculate, int latency,
                  int64_t tokens = 300, int threads = 1) {
  const auto algorithm = MakeAlgorithm(method);
  EXPECT_TRUE(algorithm.ok()) << algorithm.status();
  const Problem problem{"p", "script", "problem 7"};
  const SearchOptions options{
      .method = method, .max_tokens = tokens, .seed = 11, .keep_tree = true};
  // A critic of its own, so that scores come later than samples.
  ScriptedBackend scripted_policy({}), scripted_critic({});
  Late policy(scripted_policy, latency), critic(scripted_critic, latency);
  const ByteTokenizer tokenizer;
  Executor executor(threads);
  const ScriptTask task;
  const RunHooks hooks;
  Speculated outcome;
  {
    Runner runner({&policy, &tokenizer, &critic, &tokenizer}, executor, 1,
                  speculate);
    const absl::Status status = runner.Run(
        {.problems = absl::MakeConstSpan(&problem, 1),
         .task = &task,
         .algorithm = algorithm->get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t, SearchResult r) { outcome.result = r; }});
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(scripted_policy.live_sequences(), 0)
      << method << " leaks sequences";
  EXPECT_EQ(scripted_critic.live_sequences(), 0)
      << method << " leaks sequences";
  outcome.text = ChosenText(outcome.result);
  outcome.waits = policy.rounds();
  outcome.generated = policy.stats().tokens_generated;
  return outcome;
}

TEST(Speculation, EveryMethodGrowsTheSameTree) {
  for (const std::string& method : EveryMethod()) {
    if ((*MakeAlgorithm(method))->models() > 1) continue;
    const Speculated plain = RunOne(method, 0, 0);
    EXPECT_EQ(plain.result.speculated_tokens, 0);
    for (const int speculate : {1, 3, 64}) {
      for (const int latency : {0, 5}) {
        const Speculated ahead = RunOne(method, speculate, latency);
        EXPECT_EQ(ahead.text, plain.text) << method << " " << speculate;
        // What was still under way at the end was drawn and is not counted.
        EXPECT_GE(ahead.generated,
                  plain.generated + ahead.result.speculated_tokens)
            << method;
      }
    }
  }
}

TEST(Speculation, EveryBudgetGrowsTheSameTree) {
  for (const char* method :
       {"beam", "puct", "best_first", "puct:in_flight=4"}) {
    for (int64_t tokens = 20; tokens <= 400; tokens += 19) {
      const Speculated plain = RunOne(method, 0, 0, tokens);
      const Speculated ahead = RunOne(method, 4, 3, tokens, /*threads=*/2);
      EXPECT_EQ(ahead.text, plain.text) << method << " " << tokens;
    }
  }
}

// The searches wait for one model at a time without speculation.
TEST(Speculation, WaitsLess) {
  for (const char* method : {"beam", "puct", "best_first", "mcts_star"}) {
    const Speculated plain = RunOne(method, 0, 8, 1500);
    const Speculated ahead = RunOne(method, 16, 8, 1500);
    EXPECT_EQ(ahead.text, plain.text) << method;
    EXPECT_LT(ahead.waits, 0.75 * plain.waits) << method;
    std::printf("figure: %s waits %.2f as often, %.2f times the tokens\n",
                method, ahead.waits / plain.waits,
                static_cast<double>(ahead.generated) /
                    static_cast<double>(plain.generated));
  }
}

// The shipped story model as if policy and reward model were behind servers of
// equal latency, which is long against the work.
TEST(Speculation, TheStoryModelWaitsLess) {
  Executor executor(1);
  const auto loaded = LoadModel("models/zoo/stories", {}, executor);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Task* task = FindTask("stories").value();
  const auto set = LoadSet("stories:hard", {.limit = 8});
  ASSERT_TRUE(set.ok()) << set.status();
  for (const auto& [method, ahead] :
       std::vector<std::pair<std::string, size_t>>{
           {"beam", 8}, {"puct", 3}, {"guided", 3}, {"best_first", 3}}) {
    double rounds[2] = {}, tokens[2] = {};
    std::string text[2];
    for (const int on : {0, 1}) {
      for (const GradedProblem& graded : set->problems) {
        const auto algorithm = MakeAlgorithm(method);
        const SearchOptions options{.method = method,
                                    .max_tokens = 600,
                                    .response_tokens = 60,
                                    .seed = 1,
                                    .keep_tree = true};
        Late late(*loaded->backend, 100);
        const RunHooks hooks;
        Runner runner(
            {&late, loaded->tokenizer.get(), &late, loaded->tokenizer.get()},
            executor, 1, on * static_cast<int>(ahead));
        const absl::Status status =
            runner.Run({.problems = absl::MakeConstSpan(&graded.problem, 1),
                        .task = task,
                        .algorithm = algorithm->get(),
                        .options = &options,
                        .hooks = &hooks,
                        .on_done = [&](size_t, const SearchResult& result) {
                          text[on] += ChosenText(result);
                          tokens[on] += static_cast<double>(
                              result.tokens + result.speculated_tokens);
                        }});
        ASSERT_TRUE(status.ok()) << status;
        rounds[on] += late.rounds();
      }
    }
    EXPECT_EQ(text[0], text[1]) << method;
    EXPECT_GT(rounds[0], 1.4 * rounds[1]) << method;
    EXPECT_LT(tokens[1], 3 * tokens[0]) << method;
    std::printf(
        "figure: --speculate %zu, %s: %.2f times as fast for %.2f times "
        "the tokens\n",
        ahead, method.c_str(), rounds[0] / rounds[1], tokens[1] / tokens[0]);
  }
}

TEST(Speculation, CountsWhatNobodyAskedFor) {
  const Speculated plain = RunOne("beam:width=1:branch=4:rounds=1", 0, 3, 2000);
  const Speculated ahead = RunOne("beam:width=1:branch=4:rounds=1", 4, 3, 2000);
  EXPECT_EQ(ahead.text, plain.text);
  // Of four children that are followed, one is chosen.
  EXPECT_GT(ahead.result.speculated_tokens, ahead.result.tokens);
  EXPECT_EQ(ahead.generated, plain.generated + ahead.result.speculated_tokens);
}

}  // namespace
}  // namespace espalier
