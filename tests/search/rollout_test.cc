#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "search/parts/logprob.h"
#include "search/rollout/prefix.h"
#include "tests/search/world_draws.h"

namespace espalier {
namespace {

// A response of four steps with the given step and path scores.
NodeId Response(Tree& tree, const std::vector<float>& steps,
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
  // Falls: .1, .5, -.2, .4. Nodes 1 to 4.
  const NodeId end =
      Response(tree, {.9f, .45f, .8f, .2f}, {.9f, .4f, .6f, .2f});
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.5f, 0), 2u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.7f, 0), 2u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 0.2f, 0), kRoot);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kSuccess, 1, 0), 3u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.5f), 1u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.3f), 3u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.95f), kRoot);
  // No step below .1: the greatest drop.
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kThreshold, 0, 0.1f), 1u);
  EXPECT_EQ(PrefixOf(tree, end, PrefixRule::kDrop, 0, 0), 1u);
  Tree equal;
  EXPECT_EQ(
      PrefixOf(equal, Response(equal, {1, 1}, {1, 1}), PrefixRule::kDrop, 0, 0),
      kRoot);
}

// Steps of 1, 2, 3, 4 tokens, each -2 in all.
TEST(UncertaintyTest, IsTheMeanOverTheTokensOfASegment) {
  Tree tree;
  const NodeId end = Response(tree, {1, 1, 1, 1}, {1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, kRoot, end), -0.8);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 1, 3), -0.8);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 3, 4), -0.5);
  EXPECT_DOUBLE_EQ(MeanLogprob(tree, 4, 4), 0);
  EXPECT_DOUBLE_EQ(StepLogprob(tree.step(2)), -1);
}

// A reference's votes against a run's.
void ExpectVotes(const TreeWorld& world, const SearchRun& run,
                 const std::vector<int>& votes, const std::string& what) {
  std::map<int, double> sums;
  int best = -1;
  for (const int leaf : votes) sums[leaf] += world.Score(leaf);
  for (const int leaf : votes) {  // of equals the first
    if (best < 0 || sums[leaf] > sums[best]) best = leaf;
  }
  EXPECT_EQ(run.answer, best < 0 ? "" : world.Answer(best)) << what;
  EXPECT_EQ(run.anytime.size(), votes.size()) << what;
  if (best >= 0) {
    EXPECT_NEAR(run.score, sums[best], 1e-4) << what;
  }
}

WorldOptions World(uint64_t seed) {
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

// All paths of `at` on by one step, in order.
void Step(WorldDraws& draws, std::vector<int>& at) {
  for (int& place : at) {
    if (!draws.IsLeaf(place)) place = draws.Next(place);
  }
}

TEST(PrefixRestartTest, ReturnsWhatAPlainLoopReturns) {
  for (const char* rule : {"threshold", "drop", "success"}) {
    for (uint64_t seed = 1; seed <= 24; ++seed) {
      const TreeWorld world(World(seed));
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
        for (int depth = 0; depth < 5; ++depth) Step(draws, at);
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

// Values of the uniform policy, worked out anew from the leaves.
struct Values {
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
      const TreeWorld world(World(seed));
      const SearchRun run = RunSearch(
          absl::StrCat("rover:responses=20:branch=3:rho=", rho), world);
      WorldDraws draws(world, run.tree(), 1);
      RandomStream acts = run.context->Stream(kRoot, Purpose::kSelect);
      Values values{.world = world};
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
    SearchCompletion completion{.seq = request.seq};
    const int depth = tree.step(request.nodes[0]).depth;
    for (int i = 0; request.kind == RequestKind::kExpand && i < 2; ++i) {
      completion.samples.push_back(
          {.tokens = {i},
           .text = absl::StrCat(depth == 1 ? "= " : "s", i, "\n")});
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

// The whole of `segments`, with a step for a segment, written down plainly.
struct SegmentsReference {
  struct Block {
    int start, depth;
    double logprob;
    int chosen = 0;
  };
  struct Path {
    int place, depth;
    double logprob;
  };

  double Logprob(int place) const {
    const auto& up = world[world[place].parent];
    return up.logprobs[static_cast<size_t>(world[place].move)];
  }

  size_t Pick() {
    if (fallback == "random") {
      return picks.Below(static_cast<uint32_t>(blocks.size()));
    }
    size_t best = 0;
    double total = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block &a = blocks[i], &b = blocks[best];
      if (std::pair(a.chosen, a.logprob) < std::pair(b.chosen, b.logprob)) {
        best = i;
      }
      total += std::exp(-a.logprob);
    }
    if (fallback == "lowest") return best;
    double left = picks.UniformDouble() * total;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if ((left -= std::exp(-blocks[i].logprob)) < 0) return i;
    }
    return blocks.size() - 1;
  }

  void Tree() {
    blocks.clear();
    std::vector<Path> active = {{0, 0, 0}};
    int places = 11, copies = picks.Range(2, 8);
    bool all = true;
    while (!active.empty() || places > 0) {
      if (active.empty()) {
        Block& block = blocks[Pick()];
        ++block.chosen;
        active = {{block.start, block.depth, block.logprob}};
        --places;
        all = true;
      }
      // How often each path goes on: the least sure first.
      std::vector<int> times(active.size(), 0);
      for (size_t served = 0; served < active.size(); ++served) {
        size_t next = active.size();
        for (size_t i = 0; i < active.size(); ++i) {
          if (times[i] > 0) continue;
          if (next == active.size() ||
              active[i].logprob < active[next].logprob) {
            next = i;
          }
        }
        const bool forks = all || active[next].logprob <= fork_below;
        times[next] = 1 + (forks ? std::min(copies - 1, places) : 0);
        places -= times[next] - 1;
      }
      std::vector<Path> on;
      for (size_t i = 0; i < active.size(); ++i) {
        for (int t = 0; t < times[i]; ++t) {
          const Path from = active[i];
          const int to = draws.Next(from.place);
          blocks.push_back({from.place, from.depth, Logprob(to)});
          if (draws.IsLeaf(to)) {
            votes.push_back(to);
          } else if (from.depth + 1 < 14) {
            on.push_back({to, from.depth + 1, Logprob(to)});
          }
        }
      }
      active = on;
      all = false;
      copies = 2;
    }
  }

  const TreeWorld& world;
  std::string fallback;
  double fork_below;
  WorldDraws draws;
  RandomStream picks;
  std::vector<Block> blocks = {};
  std::vector<int> votes = {};
};

TEST(SegmentsTest, ReturnsWhatAPlainLoopReturns) {
  for (const char* fallback : {"random", "lowest", "softmax"}) {
    for (uint64_t seed = 1; seed <= 24; ++seed) {
      const TreeWorld world(World(seed));
      const double fork_below = seed % 2 == 0 ? 0 : -1.1;
      const SearchRun run = RunSearch(
          absl::StrCat("segments:paths=12:rounds=2:fork_below=", fork_below,
                       ":fallback=", fallback),
          world);
      SegmentsReference reference{
          .world = world,
          .fallback = fallback,
          .fork_below = fork_below,
          .draws = WorldDraws(world, run.tree(), 1),
          .picks = run.context->Stream(kRoot, Purpose::kSelect)};
      for (int round = 0; round < 2; ++round) reference.Tree();
      EXPECT_EQ(reference.votes.size(), 24u);
      ExpectVotes(world, run, reference.votes,
                  absl::StrCat(fallback, " ", seed));
    }
  }
}

TEST(SegmentsTest, ASegmentOfManyStepsIsAWholeResponse) {
  const TreeWorld world(World(7));
  // Nothing to fork at but the root, which diverges into 3.
  const SearchRun run = RunSearch(
      "segments:segment=64:first_low=3:first_high=3:fallback=none:rounds=1",
      world);
  EXPECT_EQ(run.anytime.size(), 3u);
  // Two segments are too few for a leaf at depth 5 of single steps.
  const TreeWorld deep({.seed = 7, .branching = 3, .depth = 5});
  const SearchRun cut = RunSearch("segments:max_depth=2:rounds=1:finish=false", deep);
  EXPECT_EQ(cut.node, kNoNode);
}

}  // namespace
}  // namespace espalier
