// Gumbel search (T9): a root that spreads a small number of simulations by
// sequential halving over actions drawn without replacement (Danihelka et al.
// 2022, "Policy improvement by planning with Gumbel"; mctx).
//
//   1. draw      up to `candidates` distinct first steps, at most twice as many
//                draws; each has a perturbed logit g + logit;
//   2. halve     simulation i goes to the candidate with as many visits as the
//                schedule says and the highest g + logit + sigma(q);
//   3. simulate  from there as mcts.h, the next child being the one with the
//                highest pi' - N/(1 + sum N).
//
// Formulas in gumbel_formulas.h. Meant for 8 to 64 simulations. Where all
// candidates that the schedule wants are closed, the best open one is taken.
#include <cmath>

#include "search/algorithm.h"
#include "search/mcts/gumbel_formulas.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

struct GumbelOptions : MctsOptions {
  int candidates = 16;
  float c_visit = 50;
  float c_scale = 0.1f;
  bool noise = true;
  GumbelOptions() {
    simulations = 32;
    widen = false;
  }
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Int("candidates", &candidates, 1, 4096, "first steps to choose among");
    v.Real("c_visit", &c_visit, 0, 1e6f, "of sigma(q)");
    v.Real("c_scale", &c_scale, 0, 1e6f, "of sigma(q)");
    v.Flag("noise", &noise, "perturb the candidates' logits");
  }
};

class GumbelRule {
 public:
  explicit GumbelRule(const GumbelOptions& options) : options_(options) {}

  // Stage 3.
  NodeId Pick(SearchContext& ctx, NodeId parent) {
    const Tree& tree = ctx.tree();
    Look(tree, parent);
    const auto sigma = Sigma(OwnValue(tree, parent));
    const auto policy = ImprovedPolicy(actions_, sigma);
    float visits = 0;
    for (const GumbelAction& a : actions_) visits += a.visits;
    NodeId best = kNoNode;
    float best_score = -INFINITY;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (!Open(tree, ids_[i])) continue;
      const float score = policy[i] - actions_[i].visits / (1 + visits);
      if (score > best_score) {
        best_score = score;
        best = ids_[i];
      }
    }
    return best;
  }

  // Stage 2: an open child of the root, or kNoNode.
  NodeId PickCandidate(const Tree& tree, absl::Span<const float> perturbed,
                       int wanted_visits) {
    Look(tree, kRoot);
    const auto sigma = Sigma(OwnValue(tree, kRoot));
    NodeId best = kNoNode;
    bool best_wanted = false;
    float best_score = -INFINITY;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (!Open(tree, ids_[i])) continue;
      const float score = perturbed[i] + sigma[i];
      const bool wanted = static_cast<int>(actions_[i].visits) == wanted_visits;
      if (wanted < best_wanted) continue;
      if (wanted > best_wanted || score > best_score) {
        best_score = score;
        best = ids_[i];
        best_wanted = wanted;
      }
    }
    return best;
  }

  void Sampled(Tree&, NodeId) const {}
  void Scored(Tree&, NodeId) const {}
  void Backup(Tree& tree, PathVisit& visit, float value) const {
    MeanBackup(tree, visit, value);
  }

 private:
  void Look(const Tree& tree, NodeId parent) {
    ids_.clear();
    actions_.clear();
    for (const NodeId c : Children(tree, parent)) {
      const Node& edge = tree[c];
      ids_.push_back(c);
      actions_.push_back(
          {.logit = tree.step(c).logprob,
           .q = edge.visits > 0
                    ? WithVirtualLoss(tree, c, options_.virtual_loss)
                    : OwnValue(tree, c),
           .visits = static_cast<float>(edge.visits + edge.in_flight)});
    }
  }
  std::vector<float> Sigma(float value) const {
    float most = 0;
    for (const GumbelAction& a : actions_) most = std::max(most, a.visits);
    return SigmaQ(CompletedQ(actions_, value), most, options_.c_visit,
                  options_.c_scale);
  }

  const GumbelOptions& options_;
  std::vector<NodeId> ids_;  // children looked at
  std::vector<GumbelAction> actions_;
};

struct GumbelSearch : Mcts<GumbelRule> {
  using Mcts::Mcts;
  std::vector<float> perturbed;  // by child of the root
  std::vector<int> schedule;
};

// Stage 1: the root's children, scored.
Co<> DrawCandidates(SearchContext& ctx, const GumbelOptions& options,
                    GumbelSearch& s) {
  const Tree& tree = ctx.tree();
  int drawn = 0;
  while (drawn < 2 * options.candidates && !ctx.ShouldStop() &&
         static_cast<int>(tree[kRoot].num_children) < options.candidates) {
    const int n = std::min(
        options.candidates - static_cast<int>(tree[kRoot].num_children),
        2 * options.candidates - drawn);
    const Expansion more = co_await ctx.Expand(
        kRoot, {.n = n, .temperature = options.temperature});
    if (more.samples.empty()) co_return;
    drawn += n;
    if (s.states.on()) {
      for (const NodeId c : more.samples) s.states.Enter(ctx.tree(), c);
    }
    co_await ctx.Evaluate(more.samples);
  }
  ctx.tree()[kRoot].flags |= kOpened;
  std::vector<float> logprobs;
  for (const NodeId c : Children(tree, kRoot)) {
    logprobs.push_back(tree.step(c).logprob);
  }
  s.perturbed =
      options.noise
          ? PerturbedLogits(logprobs, ctx.Stream(kRoot, Purpose::kSelect))
          : logprobs;
  s.schedule =
      HalvingSchedule(options.simulations, static_cast<int>(logprobs.size()));
}

// Stages 2 and 3.
Co<> GumbelWorker(SearchContext& ctx, GumbelSearch& s) {
  PathVisit visit(ctx.tree());
  while (!s.over && !ctx.ShouldStop() && s.started < s.options.simulations) {
    const NodeId candidate = s.rule.PickCandidate(
        ctx.tree(), s.perturbed, s.schedule[static_cast<size_t>(s.started)]);
    if (candidate == kNoNode) break;
    ++s.started;
    visit.Begin();
    visit.Enter(candidate);
    co_await Simulate(ctx, s, visit);
  }
}

Co<> RunGumbel(SearchContext& ctx, const GumbelOptions& options) {
  GumbelSearch search(options, GumbelRule(options));
  co_await DrawCandidates(ctx, options, search);
  if (search.perturbed.empty()) co_return;
  std::vector<Co<>> workers;
  for (int i = 0; i < options.in_flight; ++i) {
    workers.push_back(GumbelWorker(ctx, search));
  }
  WhenAll all(workers);
  co_await all;
}

const RegisterAlgorithm<GumbelOptions> kGumbel(
    "gumbel", "Gumbel search: sequential halving over drawn first steps", {},
    &RunGumbel,
    MethodNotes{.source = "Gumbel MuZero, Danihelka et al. 2022; mctx",
                .when_to_use = "a budget buys 8 to 64 expansions",
                .test = "tests/search/mcts_test.cc"});

}  // namespace
}  // namespace espalier
