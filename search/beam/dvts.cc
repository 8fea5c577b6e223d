// Diverse verifier tree search (T2; search-and-learn, Beeching et al. 2024).
//
// n / width subtrees grow from the root, each for itself. Per step, in each:
//   1. propose   `width` samples of the next step;
//   2. evaluate  them with the reward model;
//   3. keep      the best, the first of equals; where it ends the response the
//                subtree has ended.
// When a subtree has ended, or the pass has (after `iterations` steps, or with
// the budget), every sample of the subtree's last step that ends a response
// votes, as often as it was sampled. Unfinished ones are never an answer.
//
// search-and-learn's n may be any multiple of width; here a remainder is
// dropped, and n < width is one subtree of `width` samples. Passes repeat
// with fresh samples until `rounds` are done or the budget is spent.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/aggregate.h"
#include "search/parts/choose.h"
#include "search/parts/lockstep.h"

namespace espalier {
namespace {

struct DvtsOptions {
  int n = 8;
  int width = 4;
  int iterations = 0;
  int rounds = 0;
  float temperature = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 1, 1 << 16, "samples of each step, over all subtrees");
    v.Int("width", &width, 1, 4096, "samples of each step in a subtree");
    v.Int("iterations", &iterations, 0, 1 << 16,
          "steps of a pass; 0: no limit");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "passes from the root; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "level", &level, kLevelNames, "reward head");
    VisitChoice(v, "aggregate", &aggregate, kAggregateNames,
                "how step scores make the score of a path");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct Subtree {
  NodeId node = kRoot;
  bool open = true;
  std::vector<NodeId> ends;  // finished samples of the last step
};

float Score(SearchContext& ctx, NodeId node, const DvtsOptions& options) {
  return AggregatePath(ctx.tree(), node, options.level, options.aggregate);
}

void Vote(SearchContext& ctx, const Subtree& subtree,
          const DvtsOptions& options, Votes& votes) {
  for (const NodeId node : subtree.ends) {
    votes.Add(ctx, node, Score(ctx, node, options));
    votes.Offer(ctx);
  }
}

// Stage 3 in one subtree.
void Keep(SearchContext& ctx, const std::vector<NodeId>& samples,
          const DvtsOptions& options, Subtree& subtree, Votes& votes) {
  subtree.open = false;
  if (samples.empty()) return;  // cut: nothing follows, the last step's vote
  subtree.ends.clear();
  NodeId best = samples.front();
  for (const NodeId node : samples) {
    if (Score(ctx, node, options) > Score(ctx, best, options)) best = node;
    if (ctx.tree()[node].terminal()) subtree.ends.push_back(node);
  }
  subtree.node = best;
  subtree.open = !ctx.tree()[best].terminal();
  if (subtree.open) return;
  Vote(ctx, subtree, options, votes);
  subtree.ends.clear();
}

Co<> RunPass(SearchContext& ctx, const DvtsOptions& options, Votes& votes) {
  std::vector<Subtree> subtrees(
      static_cast<size_t>(std::max(1, options.n / options.width)));
  for (int step = 0; options.iterations == 0 || step < options.iterations;
       ++step) {
    std::vector<Draws> asked;
    std::vector<size_t> who;
    for (size_t i = 0; i < subtrees.size(); ++i) {
      if (!subtrees[i].open) continue;
      asked.push_back({.parent = subtrees[i].node, .n = options.width});
      who.push_back(i);
    }
    if (asked.empty()) break;
    const auto samples = co_await ExpandEach(ctx, asked, options.temperature);
    std::vector<NodeId> all;
    for (const auto& some : samples) {
      all.insert(all.end(), some.begin(), some.end());
    }
    if (!co_await ScoreEach(ctx, all)) break;
    for (size_t j = 0; j < who.size(); ++j) {
      Keep(ctx, samples[j], options, subtrees[who[j]], votes);
    }
  }
  for (const Subtree& subtree : subtrees) Vote(ctx, subtree, options, votes);
}

Co<> RunDvts(SearchContext& ctx, const DvtsOptions& options) {
  Votes votes(options.choice, {.simulations = options.rounds,
                               .votes = std::max(options.n, options.width)});
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // nothing more will come
  }
}

const RegisterAlgorithm<DvtsOptions> kDvts(
    "dvts", "independent greedy subtrees, each keeping its best sample",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunDvts,
    MethodNotes{.source = "search-and-learn, Beeching et al. 2024",
                .when_to_use = "the budget is large and beams end up alike",
                .test = "tests/search/beam_test.cc"});

}  // namespace
}  // namespace espalier
