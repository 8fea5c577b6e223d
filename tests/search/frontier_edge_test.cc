// Edge cases of every method of the families best_first, tot and rollout.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

const char* const kFrontierMethods[] = {
    "best_first:score=logprob:branch=16",
    "best_first:branch=3:score=sum:alpha=0.5:merge=step_set",
    "best_first:branch=3:score=reward:in_flight=6:merge=last_step",
    "best_first:score=logprob:branch=2:verify=true",
    "astar",
    "astar:branch=3:steps_left=4:in_flight=5",
    "tot_bfs",
    "tot_bfs:n_select=2:branch=3:rounds=3",
    "tot_dfs",
    "tot_dfs:branch=2:threshold=0.4",
    "segments",
    "segments:paths=7:segment=2:fallback=lowest:share=sum",
    "segments:fallback=softmax:choice=majority:repeats=2",
    "prefix_restart",
    "prefix_restart:prefix=success:rollouts=3:fresh=1",
    "prefix_restart:prefix=drop:rollouts=2:fresh=0",
    "rover",
    "rover:branch=2:rho=0",
};

// Methods whose options make them abandon the single-path world, "s0 s0 = 3"
// with a reward below .4.
bool GivesUpRepeats(absl::string_view method) {
  return absl::StrContains(method, "last_step") ||
         absl::StrContains(method, "repeats=2") ||
         absl::StrContains(method, "threshold=0.4");
}

// At most this many samples in flight; a step is one token.
constexpr int64_t kMostInFlight = 64;

TEST(FrontierEdgeTest, AnyOrderOfRepliesMakesTheSameTree) {
  for (const char* method : kFrontierMethods) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const TreeWorld world({.seed = seed, .depth = 4, .early_leaf = 0.2});
      const SearchRun plain = RunSearch(method, world, {.tokens = 150});
      for (const uint64_t shuffle : {1, 2, 3}) {
        const SearchRun other =
            RunSearch(method, world, {.tokens = 150, .shuffle = shuffle});
        EXPECT_EQ(other.tree_text, plain.tree_text) << method;
        EXPECT_EQ(other.answer, plain.answer) << method;
        EXPECT_EQ(other.anytime.size(), plain.anytime.size()) << method;
      }
    }
  }
}

TEST(FrontierEdgeTest, ABudgetIsKeptAndEarlierAnswersStand) {
  for (const char* method : kFrontierMethods) {
    for (const int64_t tokens : {1, 2, 7, 30, 100}) {
      const TreeWorld world({.seed = 3, .depth = 4});
      const SearchRun run = RunSearch(method, world, {.tokens = tokens});
      EXPECT_TRUE(run.status.ok()) << method << ": " << run.status;
      EXPECT_LE(run.usage.tokens, tokens + kMostInFlight) << method;
      if (tokens < 4) {
        EXPECT_EQ(run.node, kNoNode) << method;
      }
      for (size_t i = 1; i < run.anytime.size(); ++i) {
        EXPECT_LE(run.anytime[i - 1].tokens, run.anytime[i].tokens) << method;
      }
    }
    // With one request at a time there is no overshoot.
    const TreeWorld world({.seed = 4, .depth = 4});
    for (const char* single : {"best_first:score=logprob:branch=3",
                               "astar:branch=3", "tot_dfs", "rover"}) {
      EXPECT_LE(RunSearch(single, world, {.tokens = 23}).usage.tokens, 23);
    }
  }
}

TEST(FrontierEdgeTest, APolicyThatSaysNothingEndsTheSearchWithoutAnAnswer) {
  const auto nothing = [](const Tree&, const SearchRequest& request) {
    return SearchCompletion{.number = request.number};
  };
  const TreeWorld world({});
  for (const char* method : kFrontierMethods) {
    const SearchRun run = RunSearch(method, world, {.reply = nothing});
    EXPECT_TRUE(run.status.ok()) << method;
    EXPECT_EQ(run.node, kNoNode) << method;
    EXPECT_EQ(run.tree().size(), 1u) << method;
  }
}

TEST(FrontierEdgeTest, TruncatedSamplesAreNoSteps) {
  const TreeWorld world({.seed = 2, .depth = 3});
  const auto all = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion = world.Reply(tree, request);
    for (SampledStep& sample : completion.samples) sample.truncated = true;
    return completion;
  };
  // Every other sample, always the same ones.
  const auto some = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion = world.Reply(tree, request);
    for (SampledStep& sample : completion.samples) {
      sample.truncated = sample.tokens[0] == 1;
    }
    return completion;
  };
  for (const char* method : kFrontierMethods) {
    const SearchRun none =
        RunSearch(method, world, {.tokens = 200, .reply = all});
    EXPECT_TRUE(none.status.ok()) << method;
    EXPECT_EQ(none.node, kNoNode) << method;
    const SearchRun run =
        RunSearch(method, world, {.tokens = 200, .reply = some});
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      if (run.tree()[id].truncated()) {
        EXPECT_EQ(run.tree()[id].num_children, 0u) << method;
        EXPECT_FALSE(run.tree()[id].scored()) << method;
      }
    }
    if (run.node != kNoNode) {
      EXPECT_FALSE(run.tree()[run.node].truncated()) << method;
    }
  }
}

TEST(FrontierEdgeTest, OnlyEndsOnlyDuplicatesAndEqualRewardsGiveAnAnswer) {
  const TreeWorld ends({.seed = 5, .branching = 3, .depth = 1});
  const TreeWorld same({.seed = 5, .branching = 1, .depth = 3});
  const TreeWorld equal({.seed = 5, .depth = 3, .scores = Scores::kEqual});
  for (const char* method : kFrontierMethods) {
    const bool verifies = absl::StrContains(method, "verify");
    for (const TreeWorld* world : {&ends, &same, &equal}) {
      if (world == &same && GivesUpRepeats(method)) continue;
      const SearchRun run = RunSearch(method, *world, {.tokens = 400});
      EXPECT_TRUE(run.status.ok()) << method;
      const SearchRun again = RunSearch(method, *world, {.tokens = 400});
      EXPECT_EQ(run.answer, again.answer) << method;
      if (verifies) {
        // Wrong ends are not returned as answers.
        EXPECT_TRUE(run.answer.empty() || run.answer == world->best_answer());
      } else {
        EXPECT_FALSE(run.answer.empty()) << method;
      }
    }
    if (GivesUpRepeats(method)) continue;
    const SearchRun only = RunSearch(method, same, {.tokens = 400});
    EXPECT_EQ(only.answer, same.best_answer()) << method;
    EXPECT_EQ(only.tree().size(), 4u) << method;
  }
}

TEST(FrontierEdgeTest, WidthOneIsOnePath) {
  const TreeWorld world({.seed = 6, .depth = 4});
  for (const char* method :
       {"best_first:score=logprob:branch=1", "astar:branch=1",
        "tot_dfs:branch=1", "tot_bfs:n_select=1:branch=1:rounds=1",
        "segments:paths=1:rounds=1", "prefix_restart:rollouts=1:rounds=1",
        "rover:branch=1:responses=1"}) {
    const SearchRun run = RunSearch(method, world);
    EXPECT_EQ(run.tree().size(), 5u) << method;
    EXPECT_EQ(run.usage.tokens, 4) << method;
    EXPECT_FALSE(run.answer.empty()) << method;
  }
}

TEST(FrontierEdgeTest, NeedsFollowTheOptions) {
  const auto needs = [](const std::string& method) {
    return (*MakeAlgorithm(method))->needs();
  };
  using Kinds = std::vector<RequestKind>;
  const RequestKind expand = RequestKind::kExpand;
  EXPECT_EQ(needs("best_first:score=logprob:branch=16"), Kinds{expand});
  EXPECT_EQ(needs("best_first:score=sum:verify=true"),
            (Kinds{expand, RequestKind::kEvaluate, RequestKind::kVerify}));
  EXPECT_EQ(needs("segments"), (Kinds{expand, RequestKind::kEvaluate}));
  EXPECT_EQ(needs("segments:choice=majority"), Kinds{expand});
}

}  // namespace
}  // namespace espalier
