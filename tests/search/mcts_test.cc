// What every search of the MCTS family does, and where they differ.
#include "search/mcts/mcts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "search/parts/prior.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

struct MctsMethod {
  const char* name;
  const char* complete;  // visits every leaf of a world of three moves
};
void PrintTo(const MctsMethod& method, std::ostream* os) { *os << method.name; }

const MctsMethod kMctsMethods[] = {
    {"puct", "puct:widen=false:choice=best"},
    {"puct", "puct:widen=false:choice=best:descend=false"},
    {"puct", "puct:choice=best:width=3:first_value=parent"},
    {"puct", "puct:widen=false:choice=best:in_flight=5:virtual_loss=1"},
    {"uct", "uct:widen=false:choice=best"},
    {"uct", "uct:widen=false:choice=best:first_value=random:c=2"},
    {"uct", "uct:widen=false:choice=best:first_value=infinity:in_flight=3"},
    {"gumbel", "gumbel:choice=best:simulations=100000"},
    {"gumbel",
     "gumbel:choice=best:simulations=100000:candidates=3:in_flight=4"},
    {"mcts_star", "mcts_star:gate=2"},
    {"mcts_star", "mcts_star:gate=2:forward_branch=2"},
    {"td_mcts", "td_mcts:choice=best"},
    {"td_mcts", "td_mcts:choice=best:rollouts=2:lr=0.5"},
    {"rstar_math", "rstar_math"},
};

class MctsTest : public testing::TestWithParam<MctsMethod> {
 protected:
  static std::string Spec(int branch) {
    return absl::StrCat(GetParam().complete, ":branch=", branch);
  }
};
INSTANTIATE_TEST_SUITE_P(Family, MctsTest, testing::ValuesIn(kMctsMethods));

// The reference is brute force over the world.
TEST_P(MctsTest, FindsTheBestLeafOnceTheBudgetExceedsTheTree) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Scores scores : {Scores::kMean, Scores::kLeaf, Scores::kBest}) {
      const TreeWorld world({.seed = seed,
                             .branching = 3,
                             .depth = 4,
                             .early_leaf = seed % 2 == 0 ? 0.2 : 0,
                             .enumerate = true,
                             .scores = scores});
      const SearchRun run = RunSearch(Spec(3), world, {.seed = seed});
      ASSERT_TRUE(run.status.ok()) << run.status;
      EXPECT_EQ(run.answer, world.best_answer()) << "seed " << seed;
      EXPECT_TRUE(run.tree()[kRoot].closed());
      EXPECT_EQ(run.stop_reason, "");
    }
  }
}

TEST_P(MctsTest, RegretFallsWithTheBudget) {
  const auto regret = RegretCurve(Spec(3), {12, 40, 120, 400});
  EXPECT_LE(regret[3], regret[1] + 1e-6);
  EXPECT_LE(regret[1], regret[0] + 0.05);
  EXPECT_LT(regret[3], 0.02);
}

TEST_P(MctsTest, TheOrderOfRepliesChangesNothing) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const TreeWorld world(
        {.seed = seed, .early_leaf = 0.2, .scores = Scores::kNoisy});
    const SearchRun run = RunSearch(Spec(3), world, {.tokens = 90});
    for (uint64_t shuffle = 1; shuffle <= 6; ++shuffle) {
      const SearchRun other =
          RunSearch(Spec(3), world, {.tokens = 90, .shuffle = shuffle});
      ASSERT_EQ(other.tree_text, run.tree_text);
      EXPECT_EQ(other.answer, run.answer);
    }
  }
}

// Random worlds and budgets; RunSearch checks the tree each time.
TEST_P(MctsTest, TreesStayConsistentOnRandomWorlds) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(StreamKey(seed, 0, 0, Purpose::kTest));
    const TreeWorld world({.seed = seed,
                           .branching = random.Range(1, 4),
                           .depth = random.Range(1, 5),
                           .early_leaf = 0.15,
                           .enumerate = random.Below(2) == 0,
                           .scores = Scores::kNoisy});
    const SearchRun run =
        RunSearch(Spec(random.Range(1, 5)), world,
                  {.tokens = random.Range(1, 300), .seed = seed});
    EXPECT_TRUE(run.status.ok()) << run.status;
    uint64_t ended = 0;
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      if (!run.tree()[id].terminal()) continue;
      ended += run.tree()[id].visits - run.tree().step(id).own_visit;
    }
    EXPECT_LE(ended, run.tree()[kRoot].visits);
  }
}

TEST_P(MctsTest, ABudgetOfOneTokenAndOneOfNoneEndProperly) {
  const TreeWorld world({.depth = 4});
  for (const int64_t tokens : {1, 2, 3}) {
    const SearchRun run = RunSearch(Spec(3), world, {.tokens = tokens});
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, "");
    EXPECT_LE(run.usage.tokens, tokens + 15);
  }
}

TEST_P(MctsTest, EqualRewardsDuplicatesAndOnlyTerminalsAreAnswered) {
  const TreeWorld equal(
      {.seed = 4, .depth = 3, .enumerate = true, .scores = Scores::kEqual});
  EXPECT_FALSE(RunSearch(Spec(3), equal, {.tokens = 300}).answer.empty());
  const TreeWorld one({.branching = 1, .depth = 3});
  EXPECT_EQ(RunSearch(Spec(3), one, {.tokens = 300}).answer, one.best_answer());
  const TreeWorld ends({.branching = 3, .depth = 1, .enumerate = true});
  EXPECT_EQ(RunSearch(Spec(3), ends, {.tokens = 300}).answer,
            ends.best_answer());
}

TEST_P(MctsTest, APolicyThatSaysNothingEndsTheSearch) {
  const TreeWorld world({});
  RunLimits limits{.tokens = 100};
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    reply.samples.clear();
    return reply;
  };
  const SearchRun none = RunSearch(Spec(3), world, limits);
  EXPECT_TRUE(none.status.ok());
  EXPECT_EQ(none.answer, "");
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    for (SampledStep& sample : reply.samples) sample.truncated = true;
    return reply;
  };
  const SearchRun cut = RunSearch(Spec(3), world, limits);
  EXPECT_TRUE(cut.status.ok());
  EXPECT_EQ(cut.answer, "");
}

TEST_P(MctsTest, RewardsThatAreNoNumbersFailTheSearch) {
  const TreeWorld world({});
  RunLimits limits{.tokens = 100};
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    for (StepScores& scores : reply.scores) scores.path = scores.step = NAN;
    return reply;
  };
  const SearchRun run = RunSearch(Spec(3), world, limits);
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInvalidArgument);
}

// With one request in flight, each simulation equals that of a plain loop of
// the formulas over the world, without trees, coroutines or closing.
struct PlainTree {
  std::map<int, double> n, q;
  std::map<int, bool> expanded;
};

template <class Score>
void PlainMcts(const TreeWorld& world, int simulations, PlainTree& plain,
               const Score& score) {
  for (int i = 0; i < simulations; ++i) {
    std::vector<int> path = {0};
    while (plain.expanded[path.back()]) {
      const auto& children = world[path.back()].children;
      if (children.empty()) break;
      int best = children[0];
      for (const int c : children) {
        if (score(path.back(), c) > score(path.back(), best)) best = c;
      }
      path.push_back(best);
    }
    plain.expanded[path.back()] = true;
    double value = world.Score(path.back());
    if (path.back() == 0) {
      value = 0;
      for (const int c : world[0].children) {
        value = std::max<double>(value, world.Score(c));
      }
    }
    for (const int place : path) {
      plain.n[place] += 1;
      plain.q[place] += (value - plain.q[place]) / plain.n[place];
    }
  }
}

void ExpectSameVisits(const SearchRun& run, const TreeWorld& world,
                      const PlainTree& plain) {
  for (NodeId id = 0; id < run.tree().size(); ++id) {
    const auto at = plain.n.find(world.Find(run.tree(), id));
    const double wanted = at == plain.n.end() ? 0 : at->second;
    ASSERT_EQ(run.tree()[id].visits, wanted) << "node " << id;
    if (wanted > 0) {
      EXPECT_NEAR(run.tree()[id].q, plain.q.at(world.Find(run.tree(), id)),
                  1e-4);
    }
  }
}

TEST(PuctTest, VisitsAreThoseOfAPlainLoop) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 4,
                           .depth = 6,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    const SearchRun run = RunSearch(
        "puct:widen=false:descend=false:close=false:branch=4:simulations=300",
        world);
    PlainTree plain;
    PlainMcts(world, 300, plain, [&](int parent, int child) {
      const double n = plain.n[parent];
      // c(N) P sqrt(N) / (1 + N(c)); an unvisited child's Q is its score. N(s)
      // counts finished visits (OpenR, mctx).
      const double c = 1.25 + std::log((n + 19652 + 1) / 19652);
      const double p = std::exp(
          world[parent].logprobs[static_cast<size_t>(world[child].move)]);
      const double q = plain.n[child] > 0 ? plain.q[child] : world.Score(child);
      return q + c * p * std::sqrt(n) / (1 + plain.n[child]);
    });
    ExpectSameVisits(run, world, plain);
  }
}

TEST(UctTest, VisitsAreThoseOfAPlainLoop) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 4,
                           .depth = 6,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    const SearchRun run = RunSearch(
        "uct:widen=false:descend=false:close=false:branch=4:simulations=300:"
        "c=0.7:first_value=zero",
        world);
    PlainTree plain;
    PlainMcts(world, 300, plain, [&](int parent, int child) {
      const double n = std::max(1.0, plain.n[parent]);
      const double nc = std::max(1.0, plain.n[child]);
      const double q = plain.n[child] > 0 ? plain.q[child] : 0;
      return q + 0.7 * std::sqrt(std::log(n) / nc);
    });
    ExpectSameVisits(run, world, plain);
  }
}

// The reward model has scored all children of an expanded node.
TEST(GumbelTest, ScoresOfStepsNotVisitedYetAreUsed) {
  const std::string spec =
      "gumbel:choice=best:simulations=100000:candidates=3:branch=3:unvisited=";
  const auto score = RegretCurve(spec + "score", {40, 60, 90});
  const auto mixed = RegretCurve(spec + "mixed", {40, 60, 90});
  for (size_t i = 0; i < score.size(); ++i) EXPECT_LT(score[i], mixed[i]);
}

// Exactly `in_flight` requests are in flight.
TEST(MctsInFlightTest, SoManyRequestsAreOutAtOnce) {
  const TreeWorld world({.branching = 6, .depth = 6, .enumerate = true});
  for (const char* method :
       {"puct", "uct", "gumbel:descend=true", "frontier"}) {
    for (const size_t wanted : {1u, 4u, 9u}) {
      const SearchRun run =
          RunSearch(absl::StrCat(method, ":in_flight=", wanted), world,
                    {.tokens = 600, .check = {.min_value = -1}});
      // A simulation waits for one request at a time.
      EXPECT_EQ(run.most_open, wanted) << method;
    }
  }
}

// A worker that waits for another's request does not count as a failed
// simulation: a very large number of workers are as busy as a large one.
TEST(MctsInFlightTest, ThoseThatWaitGoOnWhateverTheirNumber) {
  const TreeWorld world({.branching = 12, .depth = 4, .enumerate = true});
  for (const char* method : {"puct", "uct"}) {
    const auto most = [&](int in_flight) {
      return RunSearch(absl::StrCat(method, ":branch=24:in_flight=", in_flight),
                       world, {.tokens = 4000, .check = {.min_value = -1}})
          .most_open;
    };
    EXPECT_GT(most(200), 10u) << method;
    EXPECT_EQ(most(1500), most(200)) << method;
  }
}

// Virtual visits: if nothing distinguishes four children, four simulations
// visit one each before any result arrives.
TEST(MctsInFlightTest, SimulationsUnderWaySpreadOut) {
  for (const char* method :
       {"puct", "uct:first_value=zero", "uct", "uct:first_value=random"}) {
    const TreeWorld world({});
    std::vector<NodeId> expanded;
    size_t before_first_score = 0;
    RunLimits limits{.simulations = 20};
    limits.reply = [&](const Tree&, const SearchRequest& request) {
      SearchCompletion reply{.number = request.number};
      if (request.kind == RequestKind::kEvaluate) {
        reply.scores.assign(request.nodes.size(), {0.5f, 0.5f});
        if (expanded.size() > 1 && before_first_score == 0) {
          before_first_score = expanded.size();
        }
        return reply;
      }
      expanded.push_back(request.nodes[0]);
      for (int i = 0; i < request.expand.n; ++i) {
        reply.samples.push_back(
            {{.tokens = {i}}, absl::StrCat("s", i, "\n"), /*logprob=*/-1});
      }
      return reply;
    };
    RunSearch(
        absl::StrCat(method, ":in_flight=4:branch=4:widen=false:descend=false"),
        world, limits);
    ASSERT_GE(expanded.size(), 5u);
    EXPECT_EQ(before_first_score, 5u) << method;  // the root and four children
    EXPECT_EQ(std::set<NodeId>(expanded.begin(), expanded.begin() + 5),
              (std::set<NodeId>{0, 1, 2, 3, 4}))
        << method;
  }
}

// Progressive widening: a node with k children requests one more at (k / 2)^2
// visits.
TEST(WidensTest, AtASquareOfTheChildren) {
  Tree tree;
  MctsOptions options;
  for (int32_t move = 0; move < 6; ++move) {
    tree.Add(kRoot, {.tokens = absl::MakeConstSpan(&move, 1)});
  }
  tree.AddSamplesDrawn(kRoot, 6);
  tree[kRoot].visits = 8;
  EXPECT_FALSE(Widens(tree, kRoot, options));
  tree[kRoot].visits = 9;
  EXPECT_TRUE(Widens(tree, kRoot, options));
  options.width = 6;
  EXPECT_FALSE(Widens(tree, kRoot, options));
  options.width = 7;
  tree.AddSamplesDrawn(kRoot, 1);  // without a new child
  EXPECT_FALSE(Widens(tree, kRoot, options));
  options.widen = false;
  EXPECT_FALSE(Full(tree, kRoot, options));  // traversed, never opened
  tree[kRoot].flags |= kOpened;
  EXPECT_TRUE(Full(tree, kRoot, options));
}

// A visit in flight counts as `loss` visits of value 0: .6 * 3 / (3 + 2).
TEST(VirtualLossTest, LowersTheMeanOfWhatIsUnderWay) {
  Tree tree;
  const int32_t move = 0;
  const NodeId c = tree.Add(kRoot, {.tokens = absl::MakeConstSpan(&move, 1)});
  tree[c].visits = 3;
  tree[c].q = 0.6f;
  EXPECT_FLOAT_EQ(WithVirtualLoss(tree, c, 2), 0.6f);
  tree[c].in_flight = 1;
  EXPECT_FLOAT_EQ(WithVirtualLoss(tree, c, 2), 0.36f);
  EXPECT_FLOAT_EQ(WithVirtualLoss(tree, c, 0), 0.6f);
}

TEST(MctsVerifyTest, AnAcceptedResponseEndsTheSearchAndOthersAreClosed) {
  int closed_above = 0;  // nodes closed by the verdicts below them
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    // Without descending a node's first visit has the reward model's value,
    // which verdicts below it must revoke.
    for (const char* more : {"", ":descend=false"}) {
      const SearchRun run = RunSearch(
          absl::StrCat("puct:widen=false:verify=true:branch=3:choice=best",
                       more),
          world);
      EXPECT_EQ(run.answer, world.best_answer());
      EXPECT_TRUE(run.tree()[kRoot].proved());
      // A rejected node is worth 0, whatever the reward model said.
      int refused = 0;
      for (NodeId id = 1; id < run.tree().size(); ++id) {
        const Node& node = run.tree()[id];
        if (!node.closed() || node.proved()) continue;
        EXPECT_NEAR(node.q, 0, 1e-5);
        refused += !node.terminal();
      }
      closed_above += refused;
    }
  }
  EXPECT_GT(closed_above, 10);
}

// Steps "a" and "b" commute: with sharing each set of steps is expanded once.
TEST(MctsShareTest, StatesReachedTwiceAreExpandedOnce) {
  // Each move may be made once; a response ends after all three.
  const auto reply = [](const Tree& tree, const SearchRequest& request) {
    SearchCompletion done{.number = request.number};
    if (request.kind == RequestKind::kEvaluate) {
      for (const NodeId node : request.nodes) {
        const float score = tree[node].terminal() ? 0.75f : 0.5f;
        done.scores.push_back({score, score});
      }
      return done;
    }
    std::set<int> left = {0, 1, 2};
    for (const NodeId step : tree.Path(request.nodes[0])) {
      left.erase(tree.tokens(step)[0]);
    }
    for (const int move : left) {
      const bool last = left.size() == 1;
      done.samples.push_back({{.tokens = {move}},
                              absl::StrCat("s", move, "\n"),
                              /*logprob=*/-1,
                              /*ended=*/last});
    }
    return done;
  };
  const TreeWorld world({});
  int expanded[2];
  for (const bool share : {false, true}) {
    RunLimits limits;
    limits.reply = reply;
    const SearchRun run =
        RunSearch(absl::StrCat("puct:widen=false:descend=false:branch=3:share=",
                               share ? "step_set" : "none"),
                  world, limits);
    EXPECT_TRUE(run.tree()[kRoot].closed());
    int count = 0, aliases = 0;
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      count += run.tree()[id].num_children > 0;
      aliases += run.tree()[id].alias;
    }
    expanded[share] = count;
    EXPECT_EQ(aliases > 0, share);
  }
  // 1 + 3 + 6 prefixes of two steps, against 1 + 3 + 3 sets of two.
  EXPECT_EQ(expanded[false], 10);
  EXPECT_EQ(expanded[true], 7);
}

// In any world: sharing states that are not the same loses leaves, and nothing
// else.
TEST(MctsShareTest, GraphsStayConsistentOnRandomWorlds) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 5,
                           .early_leaf = 0.15,
                           .enumerate = seed % 2 == 0,
                           .scores = Scores::kNoisy});
    for (const char* spec :
         {"puct:share=step_set:in_flight=3", "puct:share=last_step:widen=false",
          "uct:share=step_set:descend=false", "uct:share=last_step",
          "gumbel:share=step_set"}) {
      const SearchRun run = RunSearch(spec, world, {.tokens = 200});
      EXPECT_TRUE(run.status.ok()) << run.status;
    }
  }
}

TEST(MctsShareTest, WithoutEqualStatesTheGraphIsTheTree) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    // Every step has a distinct text; see the world's texts below.
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .enumerate = true,
                           .scores = Scores::kNoisy});
    RunLimits limits{.simulations = 60};
    limits.reply = [&](const Tree& tree, const SearchRequest& request) {
      SearchCompletion reply = world.Reply(tree, request);
      for (SampledStep& sample : reply.samples) {
        if (sample.text[0] == 's') {
          sample.text = absl::StrCat(request.nodes[0], sample.text);
        }
      }
      return reply;
    };
    const std::string spec =
        "puct:widen=false:descend=false:branch=3:choice=best";
    const SearchRun tree = RunSearch(spec, world, limits);
    const SearchRun graph = RunSearch(spec + ":share=last_step", world, limits);
    ASSERT_EQ(tree.tree().size(), graph.tree().size());
    for (NodeId id = 0; id < tree.tree().size(); ++id) {
      EXPECT_EQ(tree.tree()[id].visits, graph.tree()[id].visits);
      EXPECT_NEAR(tree.tree()[id].q, graph.tree()[id].q, 1e-5);
      EXPECT_EQ(graph.tree().step(id).original, kNoNode);
    }
  }
}

// A search with a verifier does not use the reference answer.
TEST(JudgeTest, AVerifierIsAskedAndNoReference) {
  for (const char* method :
       {"rstar_math:judge=verifier", "frontier:judge=verifier",
        "puct:verify=true", "vm_mcts:verify=true"}) {
    const TreeWorld world({.seed = 5, .depth = 3});
    int verified = 0, graded = 0;
    RunLimits limits{.tokens = 200, .simulations = 60};
    limits.check = {.min_value = -1, .visits_conserve = false};
    limits.reply = [&](const Tree& tree, const SearchRequest& request) {
      verified += request.kind == RequestKind::kVerify;
      graded += request.kind == RequestKind::kGrade;
      return world.Reply(tree, request);
    };
    const SearchRun run = RunSearch(method, world, limits);
    EXPECT_TRUE(run.status.ok()) << method << run.status;
    EXPECT_GT(verified, 0) << method;
    EXPECT_EQ(graded, 0) << method;
  }
}

}  // namespace
}  // namespace espalier
