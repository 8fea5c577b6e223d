// No method or preset exceeds its budget, and each search answers, in worlds of
// uneven steps and with replies in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "search/presets.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

constexpr int kStepTokens = 5;

TreeWorld UnevenWorld(uint64_t seed) {
  return TreeWorld({.seed = seed,
                    .branching = 3,
                    .depth = 5,
                    .early_leaf = 0.1,
                    .step_tokens = kStepTokens});
}

// Every method and preset, with defaults and with several requests in flight.
std::vector<std::string> AllMethods() {
  std::vector<std::string> all;
  for (const AlgorithmInfo* info : ListAlgorithms()) all.push_back(info->name);
  for (const Preset& preset : ListPresets()) {
    all.push_back(absl::StrCat("preset=", preset.name));
  }
  std::vector<std::string> with_more = all;
  for (const std::string& method : all) {
    for (const OptionInfo& option : (*MakeAlgorithm(method))->options()) {
      if (option.name == "in_flight") {
        with_more.push_back(method + ":in_flight=8");
      }
      if (option.name == "parallel")
        with_more.push_back(method + ":parallel=8");
    }
  }
  with_more.push_back("particle:particles=64");
  with_more.push_back("best_first:score=logprob:branch=16:in_flight=4");
  return with_more;
}

SearchRun RunAny(const std::string& method, const TreeWorld& world,
                 RunLimits limits) {
  limits.check.min_value = -1;
  limits.check.visits_conserve = false;
  limits.reply = [&world](const Tree& tree, const SearchRequest& request) {
    SearchRequest asked = request;
    if (asked.kind == RequestKind::kGrade) asked.kind = RequestKind::kVerify;
    return world.Reply(tree, asked);
  };
  return RunSearch(method, world, limits);
}

TEST(BudgetTest, NoMethodEverExceedsItsBudget) {
  const TreeWorld world = UnevenWorld(5);
  int several = 0;
  for (const std::string& method : AllMethods()) {
    for (const int64_t budget : {1, 7, 33, 90, 250}) {
      for (const uint64_t shuffle : {0, 9}) {
        const RunLimits limits{.simulations = 1000, .shuffle = shuffle};
        const std::string what = absl::StrCat(method, " ", budget);
        RunLimits tokens = limits;
        tokens.tokens = budget;
        const SearchRun by_tokens = RunAny(method, world, tokens);
        ASSERT_TRUE(by_tokens.status.ok()) << what << by_tokens.status;
        EXPECT_LE(by_tokens.usage.tokens, budget) << what;
        several += by_tokens.open_requests > 1;
        RunLimits calls = limits;
        calls.more.max_model_calls = budget;
        EXPECT_LE(RunAny(method, world, calls).usage.model_calls, budget)
            << what;
        RunLimits nodes = limits;
        nodes.nodes = budget;
        EXPECT_LE(RunAny(method, world, nodes).usage.nodes, budget) << what;
        RunLimits bytes = limits;
        bytes.more.max_bytes = 100 * budget;
        const SearchRun by_bytes = RunAny(method, world, bytes);
        EXPECT_LE(by_bytes.usage.bytes,
                  100 * budget + by_bytes.largest_reply_bytes)
            << what;
      }
    }
  }
  EXPECT_GT(several, 100);
}

// Between two replies thousands of votes may be cast, and each adds a point to
// the anytime list.
TEST(BudgetTest, VotesThatCostNoReplyStayWithinTheBytes) {
  const TreeWorld world = UnevenWorld(5);
  int answered = 0;
  for (const char* method : {"ab_mcts_a:batch=4096", "ab_mcts_m:batch=64",
                             "confidence:parallel=4096", "dvts:n=65536",
                             "tot_bfs:rounds=64:select=sample:n_select=4096"}) {
    for (const int64_t bytes : {200, 2600, 6000, 10'000}) {
      RunLimits limits{.simulations = 200};
      limits.more.max_bytes = bytes;
      const SearchRun run = RunAny(method, world, limits);
      ASSERT_TRUE(run.status.ok()) << method << run.status;
      EXPECT_LE(run.usage.bytes, bytes + run.largest_reply_bytes)
          << method << " " << bytes;
      if (run.anytime.empty()) continue;  // no response within the bytes
      ++answered;
      EXPECT_EQ(run.anytime.back().node, run.node) << method;
    }
  }
  EXPECT_GT(answered, 8);
}

Co<> GrowWith(SearchContext& ctx, ExpandOptions options) {
  NodeId at = kRoot;
  while (!ctx.ShouldStop()) {
    const Expansion expansion = co_await ctx.Expand(at, options);
    if (expansion.samples.empty()) co_return;
    const NodeId next = expansion.samples[0];
    at = ctx.tree()[next].terminal() ? kRoot : next;
  }
}

Co<> GrowManyWith(SearchContext& ctx, ExpandOptions options) {
  std::vector<Co<>> workers;
  for (int i = 0; i < 8; ++i) workers.push_back(GrowWith(ctx, options));
  WhenAll all(workers);
  co_await all;
}

// Several requests in flight return large samples, written by `tell`; a reply
// takes at most `reply` bytes.
void ExpectBytesHold(const ExpandOptions& options, int64_t reply_bytes,
                     void (*tell)(SampledStep&)) {
  const TreeWorld world = UnevenWorld(3);
  for (const int64_t budget : {20'000, 100'000, 400'000}) {
    for (const uint64_t shuffle : {0u, 1u, 2u}) {
      SearchOptions limits;
      limits.max_tokens = 0;
      limits.max_bytes = budget;
      Stoppers stoppers = MakeStoppers(limits);
      const Problem problem{"0", "world", "q"};
      SearchContext context(problem, world.task(), stoppers,
                            BudgetOf(limits, problem), 1);
      SearchDriver driver(context);
      RandomStream order(StreamKey(shuffle, 0, 0, Purpose::kTest));
      std::vector<SearchRequest> open;
      size_t most_open = 0;
      Co<> search = GrowManyWith(context, options);
      search.Start();
      while (true) {
        driver.Advance();
        for (SearchRequest& request : driver.TakeRequests()) {
          open.push_back(std::move(request));
        }
        if (search.done()) break;
        ASSERT_FALSE(open.empty());
        most_open = std::max(most_open, open.size());
        const size_t next =
            shuffle == 0 ? 0 : order.Below(static_cast<uint32_t>(open.size()));
        SearchCompletion reply = world.Reply(context.tree(), open[next]);
        for (SampledStep& sample : reply.samples) tell(sample);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
        driver.Put(std::move(reply));
      }
      EXPECT_TRUE(driver.failure().ok()) << driver.failure();
      EXPECT_LE(context.usage().bytes, budget + reply_bytes) << budget;
      EXPECT_GE(context.usage().bytes, budget - 2 * reply_bytes) << budget;
      EXPECT_GT(most_open, budget > 20'000 ? 3u : 0u) << budget;
    }
  }
}

TEST(BudgetTest, HiddenStatesCountAgainstTheBytes) {
  static constexpr size_t kWidth = 1024;
  ExpectBytesHold(
      {.n = 2, .hidden = true}, 2 * (160 + 64 * kStepTokens + 4 * kWidth),
      [](SampledStep& sample) { sample.hidden.assign(kWidth, 0.5f); });
}

TEST(BudgetTest, AlternativesCountAgainstTheBytes) {
  static constexpr int kEach = 100;
  ExpectBytesHold({.n = 2, .alternatives = kEach},
                  2 * (160 + 64 * kStepTokens + 8 * kEach * kStepTokens),
                  [](SampledStep& sample) {
                    sample.alternatives.resize(kEach * sample.tokens.size());
                  });
}

TEST(BudgetTest, TheOrderOfRepliesChangesNothing) {
  const TreeWorld world = UnevenWorld(6);
  for (const std::string& method : AllMethods()) {
    for (const int64_t budget : {20, 60, 150}) {
      const RunLimits limits{.tokens = budget, .simulations = 300};
      const std::string tree = RunAny(method, world, limits).tree_text;
      for (const uint64_t shuffle : {3, 4}) {
        RunLimits other = limits;
        other.shuffle = shuffle;
        EXPECT_EQ(tree, RunAny(method, world, other).tree_text)
            << method << " " << budget;
      }
    }
  }
}

bool Labels(const std::string& method) {
  const std::vector<RequestKind> needs = (*MakeAlgorithm(method))->needs();
  return std::find(needs.begin(), needs.end(), RequestKind::kGrade) !=
         needs.end();
}

// Whether the tree has a finished response.
bool HasResponse(const Tree& tree) {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree[id].terminal() && !tree[id].truncated()) return true;
  }
  return false;
}

TEST(BudgetTest, AFinishedResponseInTheTreeMeansAnAnswer) {
  for (const std::string& method : AllMethods()) {
    // Some presets return only what the method chose, as in their papers;
    // proofs are what a verifier accepted.
    const std::string finishing = absl::StrCat(method, ":finish=true");
    if (Labels(method) || absl::StrContains(method, "bfs_prover")) continue;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const TreeWorld world = UnevenWorld(seed);
      for (const int64_t budget : {12, 25, 60, 120, 300}) {
        const SearchRun run =
            RunAny(finishing, world,
                   {.tokens = budget, .simulations = 1000, .seed = seed});
        if (!HasResponse(run.tree())) continue;
        EXPECT_FALSE(run.answer.empty()) << method << " " << budget;
      }
    }
  }
}

TEST(BudgetTest, FourTimesWhatAResponseTakesBuysAnAnswer) {
  int finished = 0;
  for (const std::string& method : AllMethods()) {
    const std::string finishing = absl::StrCat(method, ":finish=true");
    if (Labels(method) || absl::StrContains(method, "bfs_prover")) continue;
    int answered = 0;
    constexpr int kProblems = 40;
    for (uint64_t seed = 1; seed <= kProblems; ++seed) {
      const TreeWorld world = UnevenWorld(seed);
      RunLimits limits{.tokens = 4 * 5 * kStepTokens, .seed = seed};
      limits.more.response_tokens = 5 * kStepTokens;
      const SearchRun run = RunAny(finishing, world, limits);
      answered += !run.answer.empty();
      finished += run.stage == AnswerStage::kFinish;
    }
    EXPECT_GE(answered, 39) << method;
  }
  EXPECT_GT(finished, 20);
}

// Responses of many steps: a method that has ended and continues a response of
// its own choice may have too little left for it.
TEST(BudgetTest, FourTimesWhatALongResponseTakesBuysAnAnswer) {
  constexpr int kDepth = 10, kProblems = 40;
  constexpr int64_t kResponse = kDepth * (1 + kStepTokens) / 2;
  std::map<std::string, int> answered;
  for (uint64_t seed = 1; seed <= kProblems; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 2,
                           .depth = kDepth,
                           .step_tokens = kStepTokens});
    for (const std::string& method : AllMethods()) {
      const std::string finishing = absl::StrCat(method, ":finish=true");
      if (Labels(method) || absl::StrContains(method, "bfs_prover")) continue;
      RunLimits limits{.tokens = 4 * kResponse, .seed = seed};
      limits.more.response_tokens = kResponse;
      answered[method] += !RunAny(finishing, world, limits).answer.empty();
    }
  }
  for (const auto& [method, count] : answered) EXPECT_GE(count, 37) << method;
}

// Without a finishing stage nothing is reserved for it: the response that a
// method has chosen is continued as far as the tokens allow.
TEST(BudgetTest, WhatAMethodHasChosenIsCarriedOnWhereNothingFollows) {
  constexpr int64_t kResponse = 10 * (1 + kStepTokens) / 2;
  int spent = 0, answered = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 2,
                           .depth = 10,
                           .step_tokens = kStepTokens});
    // Any score ends the search near the root, with slightly less left than
    // finishing is estimated to take.
    RunLimits limits{.tokens = 2 * kResponse, .seed = seed};
    limits.more.response_tokens = 2 * kResponse;
    const SearchRun run =
        RunAny("preset=rest_mcts_star:gate=0.01:finish=false", world, limits);
    spent += run.usage.tokens > kResponse / 2;
    answered += !run.answer.empty();
  }
  EXPECT_EQ(spent, 40);
  EXPECT_GE(answered, 30);
}

// If the length of responses is unknown, the method gets most of a budget of
// four responses.
TEST(BudgetTest, AGuessOfTheLengthLeavesMostToTheMethod) {
  constexpr int64_t kResponse = 10 * (1 + kStepTokens) / 2;
  int searched = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 2,
                           .depth = 10,
                           .step_tokens = kStepTokens});
    const SearchRun run = RunAny("preset=gumbel_muzero:finish=true", world,
                                 {.tokens = 4 * kResponse, .seed = seed});
    EXPECT_FALSE(run.answer.empty()) << seed;
    searched += run.usage.tokens > 3 * kResponse;
  }
  EXPECT_GE(searched, 30);
}

// No more is reserved than the best response still needs, so a method that
// writes one response after the other is not affected.
TEST(BudgetTest, NothingIsHeldBackFromTheResponseUnderWay) {
  const TreeWorld world = UnevenWorld(3);
  for (const char* method : {"greedy", "sample", "majority", "best_of_n"}) {
    for (int64_t budget = 1; budget < 120; ++budget) {
      const auto tree = [&](const char* finish) {
        return RunAny(absl::StrCat(method, finish), world, {.tokens = budget});
      };
      const SearchRun with = tree(""), without = tree(":finish=false");
      if (without.answer.empty()) continue;
      EXPECT_EQ(with.answer, without.answer) << method << " " << budget;
    }
  }
}

}  // namespace
}  // namespace espalier
