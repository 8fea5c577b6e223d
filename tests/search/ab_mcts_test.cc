#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "search/bandit/draws.h"
#include "tests/base/one_thread.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

// Both methods, both units.
const char* const kMethods[] = {
    "ab_mcts_a:unit=response", "ab_mcts_a:unit=step",
    "ab_mcts_a:unit=step:prior=beta", "ab_mcts_m:unit=response:sweeps=3",
    "ab_mcts_m:unit=step:sweeps=3"};

// Closes a tree that is small enough to be sampled completely.
std::string Patient(const std::string& method) {
  return method + ":patience=150:choice=best";
}

// The highest score of a leaf: noise may change it and make leaves equal.
float BestScore(const TreeWorld& world) {
  float best = 0;
  for (int place = 0; place < world.size(); ++place) {
    if (!world[place].children.empty()) continue;
    best = std::max(best, world.Score(place));
  }
  return best;
}

TEST(AbMctsTest, TheBestLeafIsFoundOnceTheBudgetExceedsTheTree) {
  ESP_ONE_THREAD();
  for (const Scores scores : {Scores::kMean, Scores::kNoisy, Scores::kLeaf}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const TreeWorld world({.seed = seed,
                             .branching = 3,
                             .depth = 3,
                             .early_leaf = 0.2,
                             .enumerate = true,
                             .scores = scores});
      for (const std::string method : kMethods) {
        const SearchRun run = RunSearch(method, world, {.seed = seed});
        ASSERT_TRUE(run.status.ok()) << run.status;
        EXPECT_EQ(static_cast<int>(run.tree().size()), world.size()) << method;
        EXPECT_EQ(run.score, BestScore(world)) << method << " " << seed;
        if (scores == Scores::kNoisy) continue;
        EXPECT_EQ(run.answer, world.best_answer()) << method << " " << seed;
      }
    }
  }
}

TEST(AbMctsTest, RegretFallsWithTheBudget) {
  ESP_ONE_THREAD();
  for (const std::string method : kMethods) {
    const auto regret =
        RegretCurve(method + ":finish=false", {12, 40, 120, 1000});
    EXPECT_LT(regret[3], 0.02) << method;
    EXPECT_LE(regret[3], regret[1] + 1e-6) << method;
    EXPECT_LE(regret[1], regret[0] + 0.05) << method;
  }
}

TEST(AbMctsTest, SampledTreesAreFoundWholeByAPatientSearch) {
  ESP_ONE_THREAD();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world(
        {.seed = seed, .branching = 3, .depth = 2, .scores = Scores::kNoisy});
    for (const std::string method : kMethods) {
      const SearchRun run = RunSearch(Patient(method), world, {.seed = seed});
      ASSERT_TRUE(run.status.ok()) << run.status;
      EXPECT_EQ(static_cast<int>(run.tree().size()), world.size()) << method;
      EXPECT_EQ(run.score, BestScore(world)) << method << " " << seed;
    }
  }
}

TEST(AbMctsTest, EqualRewardsEndWithAnAnswer) {
  const TreeWorld world({.branching = 2, .depth = 3, .scores = Scores::kEqual});
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(Patient(method), world);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_FALSE(run.answer.empty()) << method;
    EXPECT_EQ(static_cast<int>(run.tree().size()), world.size()) << method;
  }
}

TEST(AbMctsTest, NoBudgetMeansNoAnswerAndNoRequest) {
  const TreeWorld world({});
  for (const std::string method : kMethods) {
    // A budget that the root alone uses up.
    const SearchRun run = RunSearch(method, world, {.nodes = 1});
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, "") << method;
    EXPECT_EQ(run.usage.model_calls, 0) << method;
    EXPECT_EQ(run.stop_reason, "budget of 1 nodes is spent");
  }
}

TEST(AbMctsTest, BudgetsAreKept) {
  const TreeWorld world({.branching = 4, .depth = 5});
  for (const std::string method : kMethods) {
    EXPECT_LE(RunSearch(method, world, {.tokens = 57}).usage.tokens, 57);
    EXPECT_EQ(RunSearch(method, world, {.simulations = 9}).usage.simulations,
              9);
    EXPECT_EQ(RunSearch(method + ":simulations=7", world).usage.simulations, 7);
  }
}

TEST(AbMctsTest, AResponseUnitHasAnAnswerAfterOneSimulation) {
  const TreeWorld world({});
  for (const char* method : {"ab_mcts_a", "ab_mcts_m"}) {
    EXPECT_NE(RunSearch(method, world, {.simulations = 1}).answer, "");
  }
}

TEST(AbMctsTest, OneMoveAtEveryNodeIsFollowedToItsEnd) {
  const TreeWorld world({.branching = 1, .depth = 4});
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, world.best_answer()) << method;
    EXPECT_EQ(run.tree().size(), 5u) << method;
  }
}

TEST(AbMctsTest, APolicyThatRepeatsItselfIsLeftAfterItsPatience) {
  const TreeWorld world({.branching = 3, .depth = 3});
  RunLimits limits;
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchRequest first = request;
    first.expand.temperature = 0;
    return world.Reply(tree, first);
  };
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method + ":patience=5", world, limits);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.tree().size(), 4u) << method;
    EXPECT_NE(run.answer, "") << method;
    // Each node's first draw and its five draws without a new child.
    EXPECT_LE(run.usage.simulations, 3 * 6) << method;
  }
}

TEST(AbMctsTest, APolicyOfAnswersAloneGrowsOnlyTheRoot) {
  const TreeWorld world({.branching = 5, .depth = 1, .enumerate = true});
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, world.best_answer()) << method;
    EXPECT_EQ(run.tree().size(), 6u) << method;
    // Five new children and sixteen draws without one.
    EXPECT_EQ(run.usage.simulations, 5 + 16) << method;
  }
}

TEST(AbMctsTest, APolicyThatSaysNothingEndsWithoutAnAnswer) {
  const TreeWorld world({});
  RunLimits limits;
  limits.reply = [](const Tree&, const SearchRequest& request) {
    return SearchCompletion{.number = request.number};
  };
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world, limits);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, "");
    EXPECT_EQ(run.tree().size(), 1u);
    EXPECT_EQ(run.usage.simulations, 16) << method;
    // patience=0 means no limit, but a policy that returns nothing ends the
    // search at once.
    EXPECT_EQ(
        RunSearch(method + ":patience=0", world, limits).usage.simulations, 1)
        << method;
  }
}

TEST(AbMctsTest, ResponsesThatAreCutHaveNoScoreAndNoVote) {
  const TreeWorld world({});
  RunLimits limits;
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion = world.Reply(tree, request);
    EXPECT_EQ(request.kind, RequestKind::kExpand);
    for (SampledStep& sample : completion.samples) sample.truncated = true;
    return completion;
  };
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world, limits);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, "");
    EXPECT_EQ(run.tree()[kRoot].visits, 0u);
    EXPECT_EQ(run.usage.simulations, 16) << method;
  }
}

TEST(AbMctsTest, AScoreThatIsNoNumberFailsTheSearch) {
  const TreeWorld world({});
  RunLimits limits;
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion = world.Reply(tree, request);
    for (StepScores& s : completion.scores) s = {};
    return completion;
  };
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world, limits);
    EXPECT_EQ(run.status.code(), absl::StatusCode::kInvalidArgument) << method;
    EXPECT_NE(run.status.message().find("nan"), absl::string_view::npos)
        << run.status;
  }
}

TEST(AbMctsTest, SameSeedSameTreeWhateverTheOrderOfDelivery) {
  const TreeWorld world({.branching = 4, .depth = 4});
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world, {.simulations = 60});
    for (const uint64_t shuffle : {1, 2, 3}) {
      EXPECT_EQ(
          RunSearch(method, world, {.simulations = 60, .shuffle = shuffle})
              .tree_text,
          run.tree_text)
          << method;
    }
    EXPECT_NE(
        RunSearch(method, world, {.simulations = 60, .seed = 2}).tree_text,
        run.tree_text)
        << method;
  }
}

TEST(AbMctsTest, VisitsAreSimulationsAndValuesTheirMeans) {
  const TreeWorld world({.branching = 4, .depth = 4});
  for (const std::string method : kMethods) {
    const SearchRun run = RunSearch(method, world, {.simulations = 100});
    EXPECT_EQ(run.tree()[kRoot].visits, 100u) << method;
    for (NodeId id = 1; id < run.tree().size(); ++id) {
      if (!run.tree()[id].terminal()) continue;
      EXPECT_FLOAT_EQ(run.tree()[id].q, run.tree().step(id).path_score);
    }
  }
}

// AB-MCTS-A with unit=step, following its description: every arm is a list of
// its rewards, posteriors are summed from scratch, and closed nodes are
// searched for. Only the random draws are shared.
class PlainAbMctsA {
 public:
  PlainAbMctsA(const TreeWorld& world, int patience)
      : world_(world),
        patience_(patience),
        nodes_(static_cast<size_t>(world.size())) {}

  bool closed(int place) const {
    if (world_[place].children.empty()) return true;
    const PlainNode& node = at(place);
    return node.dry >= patience_ &&
           std::all_of(node.children.begin(), node.children.end(),
                       [&](int child) { return closed(child); });
  }

  void Simulate(RandomStream random) {
    std::vector<int> path = {0};
    for (int next = 0; (next = Choose(path.back(), random)) >= 0;) {
      path.push_back(next);
    }
    PlainNode& from = at(path.back());
    const int moves = static_cast<int>(world_[path.back()].children.size());
    const int drawn =
        world_[path.back()].children[static_cast<size_t>(from.drawn++ % moves)];
    const double score = world_.Score(drawn);
    from.gen.push_back(score);
    at(drawn).self.push_back(score);
    if (std::find(from.children.begin(), from.children.end(), drawn) ==
        from.children.end()) {
      from.children.push_back(drawn);
      from.dry = 0;
    } else {
      ++from.dry;
    }
    for (size_t i = 1; i < path.size(); ++i) {
      at(path[i]).self.push_back(score);
      at(path[i - 1]).cont.push_back(score);
    }
  }

  size_t visits(int place) const { return at(place).self.size(); }

 private:
  struct PlainNode {
    std::vector<double> self, gen, cont;
    std::vector<int> children;
    int drawn = 0, dry = 0;
  };
  PlainNode& at(int place) { return nodes_[static_cast<size_t>(place)]; }
  const PlainNode& at(int place) const {
    return nodes_[static_cast<size_t>(place)];
  }

  // Normal-inverse-chi2 with m 0, kappa 1, nu 1, tau2 .1.
  static double Worth(const std::vector<double>& rewards,
                      RandomStream& random) {
    const double n = static_cast<double>(rewards.size());
    double mean = 0, squares = 0;
    for (const double r : rewards) mean += r / n;
    for (const double r : rewards) squares += (r - mean) * (r - mean);
    const double tau2 = (0.1f + squares + n * mean * mean / (1 + n)) / (1 + n);
    return n * mean / (1 + n) +
           std::sqrt(tau2 / (1 + n)) * DrawStudentT(1 + n, random);
  }

  // A child, or -1 for GEN.
  int Choose(int place, RandomStream& random) {
    const PlainNode& node = at(place);
    std::vector<int> open;
    for (const int child : node.children) {
      if (!closed(child)) open.push_back(child);
    }
    if (open.empty()) return -1;
    if (node.dry < patience_) {
      const double gen = Worth(node.gen, random);
      if (gen >= Worth(node.cont, random)) return -1;
    }
    if (open.size() == 1) return open[0];
    std::vector<double> worth;
    for (const int child : open) worth.push_back(Worth(at(child).self, random));
    return open[static_cast<size_t>(
        std::max_element(worth.begin(), worth.end()) - worth.begin())];
  }

  const TreeWorld& world_;
  int patience_;
  std::vector<PlainNode> nodes_;  // by place
};

TEST(AbMctsTest, APlainLoopOverListsOfRewardsGrowsTheSameTree) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 4,
                           .depth = 4,
                           .early_leaf = 0.1,
                           .enumerate = true});
    const SearchRun run =
        RunSearch("ab_mcts_a:unit=step:patience=6:simulations=400", world,
                  {.seed = seed});
    const Tree& tree = run.tree();
    PlainAbMctsA plain(world, 6);
    uint64_t simulations = 0;
    while (simulations < 400 && !plain.closed(0)) {
      plain.Simulate(
          RandomStream(StreamKey(seed, StableHash("?"), tree.path_hash(kRoot),
                                 Purpose::kSelect, simulations++)));
    }
    EXPECT_EQ(run.usage.simulations, static_cast<int64_t>(simulations));
    std::vector<size_t> visits(static_cast<size_t>(world.size()));
    for (NodeId id = 1; id < tree.size(); ++id) {
      visits[static_cast<size_t>(world.Find(tree, id))] = tree[id].visits;
    }
    for (int place = 1; place < world.size(); ++place) {
      EXPECT_EQ(visits[static_cast<size_t>(place)], plain.visits(place))
          << "seed " << seed << " place " << place;
    }
  }
}

TEST(AbMctsTest, SubtreesOfEqualScoresAreLeftForNewOnes) {
  // All scores are equal: a subtree with four of them is pruned, so that the
  // first steps of the simulations spread.
  const TreeWorld world(
      {.branching = 40, .depth = 3, .scores = Scores::kEqual});
  const auto busiest = [&](const std::string& method) {
    const SearchRun run = RunSearch(method, world, {.simulations = 100});
    uint32_t most = 0;
    for (const NodeId child : Children(run.tree(), kRoot)) {
      most = std::max(most, run.tree()[child].visits);
    }
    return most;
  };
  // The policy repeats a likely step now and then.
  EXPECT_LE(busiest("ab_mcts_m:unit=step"), 12u);
  EXPECT_GT(busiest("ab_mcts_m:unit=step:prune=false"), 12u);
}

// The role of every step request, in order.
std::vector<ModelRole> Asked(const std::string& method, const TreeWorld& world,
                             double bad = 0) {
  std::vector<ModelRole> asked;
  ModelRole last = ModelRole::kPolicy;
  RunLimits limits{.simulations = 200};
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion completion = world.Reply(tree, request);
    if (request.kind == RequestKind::kExpand) {
      asked.push_back(last = request.by);
    }
    // Lowers the scores of the first model by `bad`.
    for (StepScores& s : completion.scores) {
      const float loss =
          last == ModelRole::kPolicy ? static_cast<float>(bad) : 0.0f;
      s.path = s.step = std::max(0.0f, s.path - loss);
    }
    return completion;
  };
  EXPECT_TRUE(RunSearch(method, world, limits).status.ok());
  return asked;
}

// The values of a method's model_choice option.
std::vector<std::string> ChoicesOf(const std::string& method) {
  std::vector<std::string> choices = {"thompson", "ucb"};
  if (absl::StartsWith(method, "ab_mcts_a")) choices.push_back("stack");
  return choices;
}

TEST(AbMctsTest, OneModelIsThePolicyAndFourAreTheFourRoles) {
  const TreeWorld world({.branching = 6, .depth = 5});
  for (const std::string method : kMethods) {
    for (const ModelRole role : Asked(method, world)) {
      EXPECT_EQ(role, ModelRole::kPolicy);
    }
    for (const std::string& how : ChoicesOf(method)) {
      const auto asked =
          Asked(absl::StrCat(method, ":models=4:model_choice=", how), world);
      EXPECT_EQ(std::set<ModelRole>(asked.begin(), asked.end()),
                std::set<ModelRole>({ModelRole::kPolicy, ModelRole::kSecond,
                                     ModelRole::kPlanner, ModelRole::kProver}))
          << method << " " << how;
    }
  }
}

TEST(AbMctsTest, TheBetterModelIsAskedMore) {
  const TreeWorld world({.branching = 6, .depth = 5, .scores = Scores::kEqual});
  for (const std::string method : kMethods) {
    for (const std::string& how : ChoicesOf(method)) {
      const auto asked = Asked(
          absl::StrCat(method, ":models=2:model_choice=", how), world, 0.4);
      const auto policy =
          std::count(asked.begin(), asked.end(), ModelRole::kPolicy);
      EXPECT_LT(2 * policy, static_cast<std::ptrdiff_t>(asked.size()))
          << method << " " << how;
    }
  }
}

TEST(AbMctsTest, AMixedModelHasNoArmsOfOneModelAlone) {
  const auto method =
      MakeAlgorithm("ab_mcts_m", {{"model_choice", "stack"}, {"models", "2"}});
  EXPECT_TRUE(absl::IsInvalidArgument(method.status())) << method.status();
}

TEST(AbMctsTest, ABatchIsAskedForTogetherAndCountsOneByOne) {
  const TreeWorld world({.branching = 6, .depth = 5});
  for (const std::string method : kMethods) {
    int together = 0, most = 0;
    RunLimits limits{.simulations = 0, .seed = 3};
    limits.reply = [&](const Tree& tree, const SearchRequest& request) {
      if (request.kind == RequestKind::kExpand)
        most = std::max(most, ++together);
      if (request.kind == RequestKind::kEvaluate) together = 0;
      return world.Reply(tree, request);
    };
    const SearchRun run =
        RunSearch(method + ":batch=4:simulations=10", world, limits);
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.usage.simulations, 10) << method;
    EXPECT_EQ(run.tree()[kRoot].visits, 10u) << method;
    EXPECT_GE(most, 4) << method;
  }
}

TEST(AbMctsTest, BatchesFindTheWholeTreeToo) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const TreeWorld world(
        {.seed = seed, .branching = 3, .depth = 2, .scores = Scores::kNoisy});
    for (const std::string method : kMethods) {
      const SearchRun run =
          RunSearch(Patient(method) + ":batch=5", world, {.seed = seed});
      ASSERT_TRUE(run.status.ok()) << run.status;
      EXPECT_EQ(static_cast<int>(run.tree().size()), world.size()) << method;
    }
  }
}

}  // namespace
}  // namespace espalier
