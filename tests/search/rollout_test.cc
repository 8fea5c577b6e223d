#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "search/parts/logprob.h"
#include "search/rollout/prefix.h"
#include "search/rollout/share.h"
#include "tests/base/one_thread.h"
#include "tests/search/world_draws.h"

namespace espalier {
namespace {

// A response of four steps with these step and path scores.
NodeId RolledOut(Tree& tree, const std::vector<float>& steps,
                 const std::vector<float>& paths) {
  NodeId node = kRoot;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::vector<int32_t> tokens(i + 1, static_cast<int32_t>(i));
    node = tree.Add(node, {.text = "x", .tokens = tokens, .logprob = -2});
    tree.step(node).step_score = steps[i];
    tree.step(node).path_score = paths[i];
    tree[node].flags |= kScored;
  }
  return node;
}

TEST(PrefixTest, ShareThresholdAndDrop) {
  Tree tree;
  // Drops of .1, .5, -.2 and .4 at nodes 1 to 4.
  const NodeId end =
      RolledOut(tree, {.9f, .45f, .8f, .2f}, {.9f, .4f, .6f, .2f});
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.5f, 0), 2u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.7f, 0), 2u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.2f, 0), kRoot);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 1, 0), 3u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.5f), 1u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.3f), 3u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.95f), kRoot);
  // No step is below .1: the largest drop.
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.1f), 1u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kDrop, 0, 0), 1u);
  Tree equal;
  EXPECT_EQ(PrefixOf(equal, RolledOut(equal, {1, 1}, {1, 1}), PrefixRule::kDrop,
                     0, 0),
            kRoot);
}

// Steps of 1, 2, 3 and 4 tokens with log-prob -2 each in total.
TEST(UncertaintyTest, IsTheMeanOverTheTokensOfASegment) {
  Tree tree;
  const NodeId end = RolledOut(tree, {1, 1, 1, 1}, {1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, kRoot, end), -0.8);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 1, 3), -0.8);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 3, 4), -0.5);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 4, 4), 0);
  EXPECT_DOUBLE_EQ(StepLogprob(tree.step(2)), -1);
}

// Compares a reference's votes with a run's.
void ExpectVotes(const TreeWorld& world, const SearchRun& run,
                 const std::vector<int>& votes, const std::string& what) {
  std::map<int, double> sums;
  int best = -1;
  for (const int leaf : votes) sums[leaf] += world.Score(leaf);
  for (const int leaf : votes) {  // the first of equals
    if (best < 0 || sums[leaf] > sums[best]) best = leaf;
  }
  EXPECT_EQ(run.answer, best < 0 ? "" : world.Answer(best)) << what;
  EXPECT_EQ(run.anytime.size(), votes.size()) << what;
  if (best >= 0) {
    EXPECT_NEAR(run.score, sums[best], 1e-4) << what;
  }
}

WorldOptions RolloutWorld(uint64_t seed) {
  return {.seed = seed,
          .branching = 3,
          .depth = 5,
          .early_leaf = 0.15,
          .scores = Scores::kNoisy};
}

std::vector<int> PathOf(const TreeWorld& world, int place) {
  std::vector<int> path;
  for (; place != 0; place = world[place].parent) path.push_back(place);
  std::reverse(path.begin(), path.end());
  return path;
}

// Advances all paths of `at` by one step, in order.
void TakeStep(WorldDraws& draws, std::vector<int>& at) {
  for (int& place : at) {
    if (!draws.IsLeaf(place)) place = draws.Next(place);
  }
}

TEST(PrefixRestartTest, ReturnsWhatAPlainLoopReturns) {
  for (const char* rule : {"threshold", "drop", "success"}) {
    for (uint64_t seed = 1; seed <= 24; ++seed) {
      const TreeWorld world(RolloutWorld(seed));
      const SearchRun run = RunSearch(
          absl::StrCat("prefix_restart:rollouts=4:fresh=1:rounds=5:prefix=",
                       rule),
          world);
      WorldDraws draws(world, run.tree(), 1);
      std::vector<int> votes;
      int best = -1, prefix = 0;
      for (int round = 0; round < 5; ++round) {
        std::vector<int> at(4, prefix);
        at[0] = 0;
        for (int depth = 0; depth < 5; ++depth) TakeStep(draws, at);
        for (const int leaf : at) {
          votes.push_back(leaf);
          if (best < 0 || world.Score(leaf) > world.Score(best)) best = leaf;
        }
        const std::vector<int> path = PathOf(world, best);
        size_t cut = 0;  // steps kept
        if (rule == std::string("success")) {
          cut = path.size() / 2;
        } else {
          float before = 1, fall = -9;
          bool low = false;
          for (size_t i = 0; i < path.size() && !low; ++i) {
            const float score = world.Score(path[i]);
            low = rule == std::string("threshold") && score < 0.5f;
            if (low || before - score > fall) cut = i;
            fall = std::max(fall, before - score);
            before = score;
          }
        }
        prefix = cut == 0 ? 0 : path[cut - 1];
      }
      ExpectVotes(world, run, votes, absl::StrCat(rule, " ", seed));
    }
  }
}

// Q of the uniform policy, recomputed from the leaves.
struct RolloutValues {
  const TreeWorld& world;
  std::map<int, std::vector<int>> children;
  double Q(int place) const {
    const auto below = children.find(place);
    if (below == children.end()) return world.Score(place);
    double sum = 0;
    for (const int child : below->second) sum += Q(child);
    return sum / static_cast<double>(below->second.size());
  }
};

TEST(RoverTest, ReturnsWhatAPlainLoopReturns) {
  for (const double rho : {0.0, 0.2}) {
    for (uint64_t seed = 1; seed <= 24; ++seed) {
      const TreeWorld world(RolloutWorld(seed));
      const SearchRun run = RunSearch(
          absl::StrCat("rover:responses=20:branch=3:rho=", rho), world);
      WorldDraws draws(world, run.tree(), 1);
      RandomStream acts = run.context->Stream(kRoot, Purpose::kSelect);
      RolloutValues values{.world = world};
      std::vector<int> votes;
      for (int i = 0; i < 20; ++i) {
        int place = 0;
        while (!draws.IsLeaf(place)) {
          std::vector<int>& below = values.children[place];
          if (below.empty()) below = draws.Distinct(place, 3);
          std::vector<double> mass;
          double top = 0, total = 0;
          for (const int child : below) top = std::max(top, values.Q(child));
          for (const int child : below) {
            const double q = values.Q(child);
            mass.push_back(rho == 0 ? q == top : std::exp((q - top) / rho));
            total += mass.back();
          }
          double left = rho == 0 ? 0 : acts.UniformDouble() * total;
          size_t k = 0;
          while ((left -= mass[k]) >= 0) ++k;
          place = below[k];
        }
        votes.push_back(place);
      }
      ExpectVotes(world, run, votes, absl::StrCat(rho, " ", seed));
      for (NodeId id = 0; id < run.tree().size(); ++id) {
        EXPECT_NEAR(run.tree()[id].q, values.Q(world.Find(run.tree(), id)),
                    1e-5);
      }
    }
  }
}

// Below the root .8 and .4: Q(root) = .6. The .8 leads to .3 and .5, so it
// falls to .4 and the root to .4; greedy then ends at .5, a leaf.
TEST(RoverTest, BacksUpTheMeanOfTheChildren) {
  const float scores[2][2] = {{0.8f, 0.4f}, {0.3f, 0.5f}};
  const auto reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion{.number = request.number};
    const int depth = tree.step(request.nodes[0]).depth;
    for (int i = 0; request.kind == RequestKind::kExpand && i < 2; ++i) {
      completion.samples.push_back(
          {{.tokens = {i}}, absl::StrCat(depth == 1 ? "= " : "s", i, "\n")});
    }
    for (const NodeId node : request.nodes) {
      if (request.kind != RequestKind::kEvaluate) break;
      const float score = scores[depth - 1][tree.tokens(node)[0]];
      completion.scores.push_back({score, score});
    }
    return completion;
  };
  const TreeWorld world({});
  const SearchRun run =
      RunSearch("rover:branch=2:rho=0:responses=1", world, {.reply = reply});
  EXPECT_EQ(run.answer, "1");
  EXPECT_NEAR(run.tree()[kRoot].q, 0.4, 1e-6);
  EXPECT_NEAR(run.tree()[1].q, 0.4, 1e-6);
  EXPECT_NEAR(run.tree()[2].q, 0.4, 1e-6);
  EXPECT_NEAR(run.tree()[run.node].q, 0.5, 1e-6);
}

TEST(RoverTest, GreedyValuesOfPerfectScoresLeadToTheBestLeaf) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .enumerate = true,
                           .scores = Scores::kBest});
    const SearchRun run =
        RunSearch("rover:branch=3:rho=0:responses=1:choice=best", world);
    EXPECT_EQ(run.answer, world.best_answer());
  }
}

// Nodes cut by the budget are closed; sampling a node again may return only
// closed children.
TEST(RoverTest, ClosedStepsThatComeAgainAreNoWayOn) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 2,
                           .depth = 3,
                           .scores = Scores::kNoisy,
                           .step_tokens = 6});
    for (const char* branch : {"2", "8", "16"}) {
      for (int64_t tokens = 5; tokens < 200; tokens += 13) {
        const SearchRun run =
            RunSearch(absl::StrCat("rover:branch=", branch), world,
                      {.tokens = tokens, .seed = seed});
        ASSERT_TRUE(run.status.ok()) << run.status;
        ASSERT_LE(run.usage.tokens, tokens);
      }
    }
  }
}

TEST(SegmentsTest, ASegmentOfManyStepsIsAWholeResponse) {
  const TreeWorld world(RolloutWorld(7));
  // The only branching point is the root, which diverges into 3.
  const SearchRun run = RunSearch(
      "segments:segment=64:first_low=3:first_high=3:fallback=none:rounds=1",
      world);
  EXPECT_EQ(run.anytime.size(), 3u);
}

// The segment limit is a token limit; there may be many more lines.
TEST(SegmentsTest, ManyLinesAreNoManySegments) {
  ESP_ONE_THREAD();
  const TreeWorld deep({.seed = 7, .branching = 2, .depth = 20});
  const SearchRun run =
      RunSearch("segments:paths=4:rounds=1:max_depth=2", deep);
  EXPECT_FALSE(run.answer.empty());
  EXPECT_EQ(run.anytime.size(), 4u);
}

// Two first steps: the policy is confident on the path of the first and not on
// the other; only the entropies show it.
class SureOrNot : public InlineModel {
 public:
  void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
              int first, Expansion& out) override {
    const Tree& tree = ctx.tree();
    const bool last = tree.step(node).depth == 2;
    for (int i = 0; i < options.n; ++i) {
      const bool sure =
          node == kRoot ? (first + i) % 2 == 0 : tree.Response(node)[0] == 's';
      const int32_t token = ++made_;
      out.samples.push_back(
          ctx.AddSample(node, {.text = last   ? "= 1\n"
                                       : sure ? "sure\n"
                                              : "not\n",
                               .tokens = absl::MakeConstSpan(&token, 1),
                               .logprob = -1,
                               .terminal = last,
                               .mean_entropy = sure ? 0.1f : 3.0f}));
    }
  }
  StepScores Evaluate(const Tree&, NodeId) override { return {1, 1}; }
  bool Verify(const Tree&, NodeId) override { return false; }

 private:
  int32_t made_ = 0;
};

// Samples that follow the confident and the unconfident first step.
std::pair<int, int> Followed(const std::string& share) {
  class Never : public Stopper {
    bool Stops(const SearchView&, std::string&) override { return false; }
  } stopper;
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task;
  SureOrNot model;
  SearchContext ctx(problem, task, stopper, SearchBudget(), 1, &model);
  SearchDriver driver(ctx);
  const auto algorithm = MakeAlgorithm(
      "segments:paths=8:divergence=4:fallback=none:rounds=1:choice=majority:"
      "share=" +
      share);
  Co<> search = (*algorithm)->Run(ctx);
  search.Start();
  driver.Advance();
  EXPECT_TRUE(search.done());
  return {ctx.tree().samples_drawn(1), ctx.tree().samples_drawn(2)};
}

TEST(SegmentsTest, UnsurePathsGetMoreCopiesByTheirEntropy) {
  // One each, and the other six in the ratio e^.1 : e^3: .31 and 5.69.
  EXPECT_EQ(Followed("entropy"), std::make_pair(1, 7));
  EXPECT_EQ(Followed("even"), std::make_pair(4, 4));
  EXPECT_EQ(Followed("last"), std::make_pair(4, 4));  // log-probs are equal
}

TEST(SegmentsTest, ATreeHasAsManyResponsesAsPlacesWhateverItFallsBackTo) {
  for (const char* fallback :
       {"random", "start", "lowest", "softmax", "inverse", "random:window=1",
        "random:fallback_from=finished_first",
        "random:fallback_from=in_order"}) {
    for (const char* share : {"even", "sum", "mean", "last", "entropy"}) {
      for (uint64_t seed = 1; seed <= 12; ++seed) {
        const TreeWorld world(RolloutWorld(seed));
        const SearchRun run = RunSearch(
            absl::StrCat("segments:paths=11:rounds=2:first_high=5:share=",
                         share, ":fallback=", fallback),
            world);
        EXPECT_EQ(run.anytime.size(), 22u) << share << " " << fallback;
      }
    }
  }
}

TEST(ShareTest, WhatIsLeftOverGoesToTheLastOrToTheLargestRemainder) {
  EXPECT_EQ(ShareEvenly(3, 11), (std::vector<int>{3, 3, 5}));
  // Weights 1, 1/2, 1/4 of 6: 3.43, 1.71, .86.
  const std::vector<double> x = {std::log(4), std::log(2), 0};
  EXPECT_EQ(ShareBySoftmax(x, 1, 9), (std::vector<int>{4, 3, 2}));
  EXPECT_EQ(ShareBySoftmax(x, -1, 9), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(ShareBySoftmax({0, 0}, 1, 3), (std::vector<int>{2, 1}));
  EXPECT_EQ(DrawBySoftmax(x, 1, 0.57), 0u);
  EXPECT_EQ(DrawBySoftmax(x, 1, 0.58), 1u);
  EXPECT_EQ(DrawBySoftmax(x, 1, 0.86), 2u);
}

}  // namespace
}  // namespace espalier
