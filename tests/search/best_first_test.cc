#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "search/best_first/priority.h"
#include "search/parts/frontier.h"
#include "search/parts/logprob.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

// Two steps, -3 over 3 tokens and -.5 over 2: means -1 and -.25.
TEST(PriorityTest, SumsMeansOfStepsOverAPowerOfTheDepth) {
  Step first, second;
  first.logprob = -3;
  first.num_tokens = 3;
  second.logprob = -0.5f;
  second.num_tokens = 2;
  const double sum = StepLogprob(first) + StepLogprob(second);
  EXPECT_DOUBLE_EQ(sum, -1.25);
  EXPECT_DOUBLE_EQ(PathPriority(sum, 2, 0), -1.25);
  EXPECT_DOUBLE_EQ(PathPriority(sum, 2, 1), -0.625);
  EXPECT_NEAR(PathPriority(sum, 2, 0.5), -0.883883, 1e-6);
  EXPECT_DOUBLE_EQ(PathPriority(0, 0, 1), 0);
}

// Steps scored .9 and .7: g = .1 + .3; 3 of 5 steps remain at path score .6.
TEST(PriorityTest, CostIsSpentPlusExpected) {
  EXPECT_NEAR(StepCost(0.9) + StepCost(0.7), 0.4, 1e-12);
  EXPECT_NEAR(CostToGo(0.6, 2, false, 1, 5), 1.2, 1e-12);
  EXPECT_NEAR(CostToGo(0.6, 2, false, 0.5, 5), 0.6, 1e-12);
  EXPECT_EQ(CostToGo(0.6, 2, true, 1, 5), 0);   // a terminal
  EXPECT_EQ(CostToGo(0.6, 5, false, 1, 5), 0);  // longer than expected
  EXPECT_EQ(CostToGo(0.6, 2, false, 1, 0), 0);  // unknown
}

TEST(FrontierTest, PopsByRankThenByAge) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream draws(StreamKey(seed, 0, 0, Purpose::kTest));
    Frontier frontier;
    std::vector<std::pair<double, NodeId>> expected;
    for (NodeId i = 0; i < 200; ++i) {
      const NodeId id = (i * 37) % 200;
      const double rank = draws.Below(10);
      frontier.Push(id, rank);
      expected.push_back({-rank, id});
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& [rank, id] : expected) {
      EXPECT_EQ(frontier.top_rank(), -rank);
      EXPECT_EQ(frontier.Pop(), id);
    }
    EXPECT_TRUE(frontier.empty());
  }
}

// A*'s cost of a leaf: sum of (1 - score) over its path.
double Cost(const TreeWorld& world, int leaf) {
  double cost = 0;
  for (int at = leaf; at != 0; at = world[at].parent) {
    cost += 1 - static_cast<double>(world.Score(at));
  }
  return cost;
}

std::vector<int> Leaves(const TreeWorld& world) {
  std::vector<int> leaves;
  for (int place = 0; place < world.size(); ++place) {
    if (world[place].children.empty()) leaves.push_back(place);
  }
  return leaves;
}

// The leaf with the highest `rank` by brute force; the first of equals.
template <class Rank>
int Highest(const TreeWorld& world, Rank rank) {
  const std::vector<int> leaves = Leaves(world);
  int best = leaves[0];
  for (const int leaf : leaves) {
    if (rank(leaf) > rank(best)) best = leaf;
  }
  return best;
}

int Cheapest(const TreeWorld& world) {
  return Highest(world, [&](int leaf) { return -Cost(world, leaf); });
}

TEST(CompleteSearchTest, FindsTheBestLeafOfTheWholeTree) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .early_leaf = 0.2,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    // The noisy score of a leaf is not its reward; this is the best by score.
    const int top = Highest(world, [&](int leaf) { return world.Score(leaf); });
    for (const char* method :
         {"tot_dfs:branch=3:choice=best",
          "best_first:branch=3:score=reward:choice=best",
          "best_first:branch=3:score=reward:choice=best:in_flight=5"}) {
      const SearchRun run = RunSearch(method, world);
      EXPECT_EQ(world.Score(std::stoi(run.answer)), world.Score(top))
          << method << " seed " << seed;
      EXPECT_EQ(static_cast<int>(run.tree().size()), world.size()) << method;
    }
    for (const char* method :
         {"best_first:score=logprob:branch=3:verify=true",
          "best_first:score=logprob:branch=3:verify=true:alpha=0.5:in_flight=3",
          "best_first:branch=3:verify=true:score=sum"}) {
      EXPECT_EQ(RunSearch(method, world).answer, world.best_answer()) << method;
    }
  }
}

TEST(CompleteSearchTest, AStarFindsTheCheapestEndByAnAdmissibleH) {
  int64_t blind = 0, guided = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    // With perfect scores every step below a node costs at least 1 - score.
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .enumerate = true,
                           .scores = Scores::kBest});
    const std::string cheapest = world.Answer(Cheapest(world));
    const SearchRun zero = RunSearch("astar:branch=3", world);
    EXPECT_EQ(zero.answer, cheapest) << seed;
    const SearchRun h = RunSearch("astar:branch=3:steps_left=4", world);
    EXPECT_EQ(h.answer, cheapest) << seed;
    const SearchRun wide =
        RunSearch("astar:branch=3:steps_left=4:in_flight=4", world);
    EXPECT_EQ(wide.answer, cheapest) << seed;
    blind += zero.usage.tokens;
    guided += h.usage.tokens;
    // h = 0 is admissible for any scores and depths.
    const TreeWorld rough({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .early_leaf = 0.2,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    EXPECT_EQ(RunSearch("astar:branch=3", rough).answer,
              rough.Answer(Cheapest(rough)));
    EXPECT_EQ(RunSearch("astar:branch=3:in_flight=3", rough).answer,
              rough.Answer(Cheapest(rough)));
  }
  EXPECT_LT(guided, blind);
  std::cout << "tokens to the cheapest end: h = 0 " << blind << ", h known "
            << guided << "\n";
}

TEST(CompleteSearchTest, RegretFallsWithTheBudget) {
  for (const char* method :
       {"tot_dfs:branch=3:choice=best",
        "best_first:branch=3:score=reward:choice=best",
        "best_first:score=logprob:branch=3:choice=best:verify=true"}) {
    double before = 2;
    for (const double regret :
         RegretCurve(method, {4, 8, 16, 32, 64, 128, 256})) {
      EXPECT_LE(regret, before + 0.02) << method;
      before = regret;
    }
    EXPECT_EQ(before, 0) << method;
  }
}

TEST(CompleteSearchTest, CostOfAStarsAnswerFallsWithTheBudget) {
  for (const char* method : {"astar:branch=3", "astar:branch=3:steps_left=4",
                             "astar:branch=3:steps_left=4:in_flight=3"}) {
    std::cout << method << " cost above the cheapest:";
    double before = 5;
    for (const int64_t tokens : {4, 8, 16, 32, 64, 128, 256}) {
      double regret = 0;
      for (uint64_t seed = 1; seed <= 40; ++seed) {
        const TreeWorld world({.seed = seed,
                               .branching = 3,
                               .depth = 4,
                               .enumerate = true,
                               .scores = Scores::kBest});
        const SearchRun run = RunSearch(method, world, {.tokens = tokens});
        // No answer costs as much as four steps of score 0.
        regret +=
            (run.answer.empty() ? 4 : Cost(world, std::stoi(run.answer))) -
            Cost(world, Cheapest(world));
      }
      regret /= 40;
      std::cout << " " << tokens << ":" << regret;
      EXPECT_LE(regret, before + 0.02) << method << " at " << tokens;
      before = regret;
    }
    EXPECT_NEAR(before, 0, 1e-9) << method;
    std::cout << "\n";
  }
}

TEST(BestFirstTest, WithoutAVerifierTheMostLikelyEndOfTheTreeAnswers) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .early_leaf = 0.2,
                           .enumerate = true});
    for (const double alpha : {0.0, 0.5}) {
      const auto priority = [&](int leaf) {
        double sum = 0;
        int depth = 0;
        for (int at = leaf; at != 0; at = world[at].parent, ++depth) {
          const auto& up = world[world[at].parent];
          sum += up.logprobs[static_cast<size_t>(world[at].move)];
        }
        return sum / std::pow(depth, alpha);
      };
      const SearchRun run = RunSearch(
          absl::StrCat("best_first:score=logprob:branch=3:choice=best:alpha=",
                       alpha),
          world);
      const int top = Highest(world, priority);
      EXPECT_EQ(run.answer, world.Answer(top)) << seed;
      EXPECT_NEAR(run.score, std::exp(priority(top)), 1e-5) << seed;
    }
  }
}

TEST(BestFirstTest, ExpandsInOrderOfPriority) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world(
        {.seed = seed, .branching = 3, .depth = 4, .enumerate = true});
    std::vector<NodeId> expanded;
    const auto reply = [&](const Tree& tree, const SearchRequest& request) {
      expanded.push_back(request.nodes[0]);
      return world.Reply(tree, request);
    };
    const SearchRun run =
        RunSearch("best_first:score=logprob:branch=3:alpha=0.5", world,
                  {.tokens = 60, .reply = reply});
    // By rescanning all open nodes each time.
    const Tree& tree = run.tree();
    std::set<NodeId> done;
    for (const NodeId next : expanded) {
      NodeId best = kNoNode;
      double highest = 0;
      for (NodeId id = 0; id < tree.size(); ++id) {
        const bool seen = id == kRoot || done.contains(tree[id].parent);
        if (!seen || tree[id].terminal() || done.contains(id)) continue;
        double sum = 0;
        for (const NodeId step : tree.Path(id)) sum += tree.step(step).logprob;
        const double rank =
            id == kRoot
                ? 0
                : sum / std::sqrt(static_cast<double>(tree.step(id).depth));
        if (best == kNoNode || rank > highest) {
          best = id;
          highest = rank;
        }
      }
      EXPECT_EQ(next, best) << "seed " << seed;
      done.insert(next);
    }
  }
}

TEST(AStarTest, ExpandsInOrderOfCostAndOffersCheaperEndsOnly) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 5,
                           .early_leaf = 0.05,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    std::vector<NodeId> expanded;
    const auto reply = [&](const Tree& tree, const SearchRequest& request) {
      if (request.kind == RequestKind::kExpand) {
        expanded.push_back(request.nodes[0]);
      }
      return world.Reply(tree, request);
    };
    const SearchRun run = RunSearch("astar:branch=3:weight=0.4:steps_left=5",
                                    world, {.reply = reply});
    // By rescanning all open nodes each time.
    const Tree& tree = run.tree();
    std::set<NodeId> done;
    for (const NodeId next : expanded) {
      NodeId best = kNoNode;
      double least = 0;
      for (NodeId id = 0; id < tree.size(); ++id) {
        const bool seen = id == kRoot || done.contains(tree[id].parent);
        if (!seen || done.contains(id)) continue;
        double f = 0;
        for (const NodeId step : tree.Path(id))
          f += 1 - tree.step(step).step_score;
        if (!tree[id].terminal() && id != kRoot) {
          f +=
              0.4f * (1 - tree.step(id).path_score) * (5 - tree.step(id).depth);
        }
        if (best == kNoNode || f < least - 1e-9) {
          best = id;
          least = f;
        }
      }
      EXPECT_EQ(next, best) << "seed " << seed;
      done.insert(next);
    }
    double before = 5;
    for (const AnytimeAnswer& held : run.anytime) {
      const double cost = Cost(world, world.Find(tree, held.node));
      EXPECT_LE(cost, before + 1e-9);
      before = cost;
    }
  }
}

// Steps that commute: any unused letter of "abcd"; a response ends when all are
// used. The set {a, b} is a dead end. Counts its requests.
struct Letters {
  std::map<std::string, int> expanded;
  int verified = 0;
  bool right = true;
  SearchCompletion operator()(const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion{.number = request.number};
    std::string used;
    for (const NodeId id : tree.Path(request.nodes[0]))
      used += tree.text(id)[0];
    std::sort(used.begin(), used.end());
    if (request.kind == RequestKind::kVerify) {
      ++verified;
      completion.correct = right;
      return completion;
    }
    ++expanded[used];
    if (used == "ab") return completion;
    for (int i = 0; i < request.expand.n; ++i) {
      const char letter = static_cast<char>('a' + i % 4);
      if (used == "abcd") {
        completion.samples.push_back(
            {{.tokens = {99}}, "= 1\n", /*logprob=*/-1});
      } else if (used.find(letter) == std::string::npos) {
        completion.samples.push_back({{.tokens = {letter}},
                                      std::string(1, letter) + "\n",
                                      /*logprob=*/-1});
      }
    }
    return completion;
  }
};

TEST(BestFirstTest, StepsThatCommuteAreExpandedOnceASet) {
  const TreeWorld world({});
  for (const int in_flight : {1, 4}) {
    const std::string method =
        absl::StrCat("best_first:score=logprob:branch=4:in_flight=", in_flight);
    Letters merged;
    const SearchRun run = RunSearch(method + ":merge=step_set", world,
                                    {.reply = std::ref(merged)});
    EXPECT_EQ(run.answer, "1");
    EXPECT_EQ(merged.expanded.size(), 16u);
    for (const auto& [set, times] : merged.expanded) EXPECT_EQ(times, 1) << set;
    Letters apart;
    RunSearch(method, world, {.reply = std::ref(apart)});
    EXPECT_EQ(apart.expanded.size(), 16u);
    EXPECT_EQ(apart.expanded["abc"], 4);  // ac., ca., bc., cb.: not ab., ba.
    EXPECT_EQ(apart.expanded["cd"], 2);
  }
}

TEST(BestFirstTest, AVerdictIsAskedOnceAStateAndAProofEndsTheSearch) {
  const TreeWorld world({});
  Letters wrong;
  wrong.right = false;
  const SearchRun none =
      RunSearch("best_first:score=logprob:branch=4:verify=true:merge=step_set",
                world, {.reply = std::ref(wrong)});
  EXPECT_TRUE(none.status.ok());
  EXPECT_EQ(none.node, kNoNode);
  EXPECT_EQ(wrong.verified, 1);
  Letters unmerged;
  unmerged.right = false;
  RunSearch("best_first:score=logprob:branch=4:verify=true", world,
            {.reply = std::ref(unmerged)});
  EXPECT_EQ(unmerged.verified, 20);  // 24 orders minus ab.. and ba..
  Letters right;
  const SearchRun proved =
      RunSearch("best_first:score=logprob:branch=4:verify=true", world,
                {.reply = std::ref(right)});
  EXPECT_EQ(proved.answer, "1");
  EXPECT_EQ(right.verified, 1);
}

TEST(BestFirstTest, EndsThatAreOneStateShareAVerdict) {
  const TreeWorld world({});
  int verdicts = 0;
  // Two paths to the same wrong end.
  const auto reply = [&](const Tree&, const SearchRequest& request) {
    SearchCompletion completion{.number = request.number};
    if (request.kind == RequestKind::kVerify) {
      ++verdicts;
    } else if (request.nodes[0] == kRoot) {
      completion.samples = {{{.tokens = {0}}, "a\n"}, {{.tokens = {1}}, "b\n"}};
    } else {
      completion.samples = {{{.tokens = {2}}, "= 1\n"}};
    }
    return completion;
  };
  const RunLimits limits{.reply = reply};
  RunSearch("best_first:score=logprob:branch=16:verify=true", world, limits);
  EXPECT_EQ(verdicts, 2);
  verdicts = 0;
  RunSearch("best_first:score=logprob:branch=16:verify=true:merge=last_step",
            world, limits);
  EXPECT_EQ(verdicts, 1);
}

// A walk on 0..9 by +-1 from 5 that ends at 9: infinite as a tree.
SearchCompletion Walk(const Tree& tree, const SearchRequest& request) {
  SearchCompletion completion{.number = request.number};
  const NodeId node = request.nodes[0];
  const int at = node == kRoot ? 5 : std::stoi(std::string(tree.text(node)));
  for (const int next : {at - 1, at + 1}) {
    if (next < 0) continue;
    completion.samples.push_back(
        {{.tokens = {next}},
         next == 9 ? "= 9\n" : absl::StrCat(next, "\n"),
         /*logprob=*/-1});
  }
  return completion;
}

TEST(BestFirstTest, AWalkThatReturnsExpandsEachPlaceOnce) {
  const TreeWorld world({});
  int expansions = 0;
  const auto reply = [&](const Tree& tree, const SearchRequest& request) {
    ++expansions;
    return Walk(tree, request);
  };
  const SearchRun run =
      RunSearch("best_first:score=logprob:branch=2:merge=last_step", world,
                {.reply = reply});
  EXPECT_EQ(run.answer, "9");
  // The root and 0..8; the root is a state of its own in addition to "5".
  EXPECT_EQ(expansions, 10);
}

}  // namespace
}  // namespace espalier
