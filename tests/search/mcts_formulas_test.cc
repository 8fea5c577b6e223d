// The formulas of the MCTS family against hand-worked and published numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/mcts/frontier_queue.h"
#include "search/mcts/gumbel_formulas.h"
#include "search/parts/backup.h"
#include "search/parts/close.h"
#include "search/parts/path_visit.h"
#include "search/parts/prior.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

std::vector<int> Schedule(int simulations, int candidates) {
  HalvingSchedule schedule(simulations, candidates);
  std::vector<int> visits;
  for (int i = 0; i < simulations; ++i, schedule.Next()) {
    visits.push_back(schedule.visits());
  }
  return visits;
}

// Four candidates and eight simulations: one visit each, then two more for each
// of the better two. Sixteen and thirty-two: 16 + 8 + 4, with the last round
// twice.
TEST(GumbelFormulasTest, HalvingGivesEachRoundTheSameShare) {
  EXPECT_EQ(Schedule(8, 4), (std::vector<int>{0, 0, 0, 0, 1, 1, 2, 2}));
  std::vector<int> wanted(16, 0);
  wanted.insert(wanted.end(), 8, 1);
  wanted.insert(wanted.end(), 4, 2);
  wanted.insert(wanted.end(), 4, 3);
  EXPECT_EQ(Schedule(32, 16), wanted);
  EXPECT_EQ(Schedule(3, 1), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(Schedule(2, 4), (std::vector<int>{0, 0}));
  // Three: two visits each, then three more for each of the better two.
  EXPECT_EQ(Schedule(12, 3),
            (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4}));
}

// p = .5, .25, .25; the first two visited with q .8 (3 visits) and .2 (1);
// v = .4: (.4 + 4 (.5 .8 + .25 .2) / .75) / 5 = .56.
TEST(GumbelFormulasTest, MissingValuesAreCompleted) {
  const std::vector<GumbelAction> actions = {
      {.logit = std::log(0.5f), .q = 0.8f, .visits = 3},
      {.logit = std::log(0.25f), .q = 0.2f, .visits = 1},
      {.logit = std::log(0.25f)}};
  const auto q = CompletedQ(actions, 0.4f);
  EXPECT_FLOAT_EQ(q[0], 0.8f);
  EXPECT_FLOAT_EQ(q[1], 0.2f);
  EXPECT_NEAR(q[2], 0.56, 1e-6);
  // sigma = (50 + 3) .1 (q - .2) / .6
  const auto sigma = SigmaQ(q, 3, 50, 0.1f);
  EXPECT_NEAR(sigma[0], 5.3, 1e-5);
  EXPECT_NEAR(sigma[1], 0, 1e-6);
  EXPECT_NEAR(sigma[2], 5.3 * 0.6, 1e-4);
  const auto policy = ImprovedPolicy(actions, sigma);
  const double z = 0.5 * std::exp(5.3) + 0.25 + 0.25 * std::exp(3.18);
  EXPECT_NEAR(policy[0], 0.5 * std::exp(5.3) / z, 1e-5);
  EXPECT_NEAR(policy[2], 0.25 * std::exp(3.18) / z, 1e-5);
}

TEST(GumbelFormulasTest, WhatIsKnownBeforeAVisitIsKept) {
  const auto q = CompletedQ(
      {{{.logit = -1, .q = 0.8f, .visits = 3}, {.logit = -2, .q = 0.9f}}},
      0.4f);
  EXPECT_FLOAT_EQ(q[0], 0.8f);
  EXPECT_FLOAT_EQ(q[1], 0.9f);
}

TEST(GumbelFormulasTest, NothingVisitedIsWorthTheNodesOwnValue) {
  const auto q = CompletedQ({{{.logit = -1}, {.logit = -2}}}, 0.3f);
  EXPECT_FLOAT_EQ(q[0], 0.3f);
  EXPECT_FLOAT_EQ(q[1], 0.3f);
  for (const float s : SigmaQ(q, 0, 50, 0.1f)) EXPECT_EQ(s, 0);
}

// The maximum of all perturbed logits is Gumbel with location 0: mean .5772,
// variance pi^2 / 6. Later ones are lower.
TEST(GumbelFormulasTest, PerturbedLogitsAreTheOrderStatisticsOfGumbels) {
  const std::vector<float> logprobs = {std::log(0.5f), std::log(0.3f),
                                       std::log(0.2f)};
  double sum = 0, squares = 0, last = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const auto g = PerturbedLogits(
        logprobs, RandomStream(StreamKey(1, 0, static_cast<uint64_t>(i),
                                         Purpose::kTest)));
    ASSERT_GE(g[0], g[1]);
    ASSERT_GE(g[1], g[2]);
    sum += g[0];
    squares += static_cast<double>(g[0]) * g[0];
    last += g[2];
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5772, 0.03);
  EXPECT_NEAR(squares / kDraws - mean * mean, M_PI * M_PI / 6, 0.08);
  // Brute force: perturb all three and sort. Given the order (0, 1, 2), the
  // third value is distributed as the conditional draw.
  double brute = 0;
  int kept = 0;
  RandomStream random(StreamKey(2, 0, 0, Purpose::kTest));
  while (kept < kDraws) {
    double g[3];
    for (size_t a = 0; a < 3; ++a) {
      g[a] = logprobs[a] - std::log(-std::log(random.UniformDouble()));
    }
    if (!(g[0] > g[1] && g[1] > g[2])) continue;
    brute += g[2];
    ++kept;
  }
  EXPECT_NEAR(last / kDraws, brute / kept, 0.05);
}

// l = .4, .4, .01: F = .4 tanh(.5) + .4 1.5 + .01 sqrt(4/16).
TEST(FrontierFormulasTest, PriorityIsThePublishedSum) {
  EXPECT_NEAR(FrontierPriority({}, 0.5f, 0.9f, 1.5f, 4, 16),
              0.4 * std::tanh(0.5) + 0.6 + 0.005, 1e-6);
  EXPECT_NEAR(FrontierPriority({.value = 1}, 0, 0.9f, 0, 0, 16), std::tanh(0.9),
              1e-6);
}

// A path of 3 steps: gamma = (d+1)/4.
TEST(FrontierFormulasTest, ConstrainedBackupKeepsWhatIsKnownToBeGood) {
  // First visits: V = gamma v.
  EXPECT_DOUBLE_EQ(ConstrainedValue(0, 1, 0, 3), 0.25);
  EXPECT_DOUBLE_EQ(ConstrainedValue(0, -1, 3, 3), -1);
  // The same sign adds.
  EXPECT_DOUBLE_EQ(ConstrainedValue(0.25, 1, 0, 3), 0.5);
  // A wrong end does not lower a good node's value.
  EXPECT_DOUBLE_EQ(ConstrainedValue(0.5, -1, 1, 3), 0.5);
  // A right end replaces a bad node's value.
  EXPECT_DOUBLE_EQ(ConstrainedValue(-0.5, 1, 1, 3), 0.5);
  // gamma is at least .1.
  EXPECT_DOUBLE_EQ(ConstrainedValue(0, 1, 0, 99), 0.1);
}

// Priorities that change: the queue against a scan of all entries.
TEST(FrontierQueueTest, TakesTheHighestPriorityThatHoldsNow) {
  ESP_ONE_THREAD();
  Tree tree;
  RandomStream random(StreamKey(3, 0, 0, Purpose::kTest));
  FrontierValues values(tree);
  FrontierQueue queue(tree, values, {}, {.width = 1}, 64);
  std::set<NodeId> waiting;
  const auto priority = [&](NodeId id) {
    const Node& n = tree[id];
    const Step& step = tree.step(id);
    const double q = n.parent == kNoNode ? 0 : values.q(n.parent);
    return FrontierPriority({}, q, values.q(id), -step.logprob, step.depth, 64);
  };
  queue.Enter(kRoot);
  waiting.insert(kRoot);
  for (int i = 0; i < 3000; ++i) {
    const NodeId taken = queue.Take();
    ASSERT_NE(taken, kNoNode);
    for (const NodeId other : waiting) {
      ASSERT_GE(priority(taken), priority(other)) << taken << " " << other;
    }
    waiting.erase(taken);
    tree.AddSamplesDrawn(taken, 1);
    for (int32_t move = 0; move < 2; ++move) {
      const NodeId c = tree.Add(taken, {.tokens = absl::MakeConstSpan(&move, 1),
                                        .logprob = -2 * random.Uniform()});
      queue.Enter(c);
      waiting.insert(c);
    }
    for (int k = 0; k < 3; ++k) {
      const NodeId changed = random.Below(tree.size());
      tree[changed].visits = 1;
      values.Set(changed, 2 * random.Uniform() - 1, 1);
      queue.Changed(changed);
    }
  }
}

TEST(BackupTest, MeansOnAPathWorkedByHand) {
  Tree tree;
  const int32_t move = 0;
  const auto token = absl::MakeConstSpan(&move, 1);
  const NodeId a = tree.Add(kRoot, {.tokens = token});
  const NodeId b = tree.Add(a, {.tokens = token});
  PathVisit visit(tree);
  const auto go = [&] {
    visit.Begin();
    visit.Enter(a);
    visit.Enter(b);
  };
  go();
  MeanBackup(tree, visit, 0.5f);
  go();
  MeanBackup(tree, visit, 1);
  EXPECT_FLOAT_EQ(tree[kRoot].q, 0.75f);
  EXPECT_EQ(tree[b].visits, 2u);
  EXPECT_EQ(tree[b].in_flight, 0u);
  go();
  visit.Abandon();
  EXPECT_EQ(tree[kRoot].in_flight, 0u);
  EXPECT_EQ(tree[kRoot].visits, 2u);
}

// The root has 4 visits of mean .5; a settled child had 2 visits of .9 and is
// now worth 0.
TEST(CloseTest, SettlingRevaluesPastVisits) {
  Tree tree;
  const int32_t move = 0;
  const NodeId a = tree.Add(kRoot, {.tokens = absl::MakeConstSpan(&move, 1)});
  tree[kRoot].visits = 4;
  tree[kRoot].q = 0.5f;
  tree[a].visits = 2;
  tree[a].q = 0.9f;
  Settle(tree, std::vector<NodeId>{kRoot, a}, 0);
  EXPECT_FLOAT_EQ(tree[a].q, 0);
  EXPECT_FLOAT_EQ(tree[kRoot].q, (4 * 0.5f - 2 * 0.9f) / 4);
}

TEST(PriorTest, IsTheSoftmaxOfSummedOrMeanLogProbs) {
  Tree tree;
  const std::vector<int32_t> one = {1}, two = {2, 3};
  const NodeId a = tree.Add(kRoot, {.tokens = one, .logprob = -1});
  const NodeId b = tree.Add(kRoot, {.tokens = two, .logprob = -3});
  SetPriors(tree, kRoot, false);
  EXPECT_NEAR(tree[a].prior, 1 / (1 + std::exp(-2.0)), 1e-6);
  SetPriors(tree, kRoot, true);
  EXPECT_NEAR(tree[b].prior, 1 / (1 + std::exp(0.5)), 1e-6);
  tree[b].visits = 1;
  EXPECT_FLOAT_EQ(VisitedPrior(tree, kRoot), tree[b].prior);
}

}  // namespace
}  // namespace espalier
