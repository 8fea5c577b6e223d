// Gumbel search: spreads a small number of simulations over root actions drawn
// without replacement, by sequential halving (Danihelka et al. 2022, "Policy
// improvement by planning with Gumbel"; mctx).
//
//   1. draw      up to `candidates` distinct first steps (or `root_actions`,
//                the first `candidates` of which are candidates), with at most
//                twice as many draws; each has a perturbed logit g + logit;
//   2. halve     simulation i goes to the candidate with the scheduled number
//                of visits and the highest g + logit + sigma(q);
//   3. simulate  from there as in mcts.h, the next child being the one with the
//                highest pi' - N/(1 + sum N).
//
// Formulas are in gumbel_formulas.h. The value of an unvisited step is its own
// score, known from its creation; with unvisited=mixed, as published, an
// estimate from the visited steps and the node's own value. If all candidates
// that the schedule selects from are closed, the best open one is taken. Meant
// for 8 to 64 simulations.
//
// The answer is by vote of the finished responses or, with `act`, the best
// response below the action that the paper takes: of the most visited
// candidates the one with the highest g + logit + sigma(q).
#include <array>
#include <cmath>

#include "search/algorithm.h"
#include "search/mcts/gumbel_formulas.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

// Value of an unvisited action.
enum class Unvisited : uint8_t {
  kScore,  // its own score
  kMixed,  // a mean of visited siblings and the node's value
  kValue,  // the node's own value
};
constexpr std::array<std::string_view, 3> kUnvisitedNames = {"score", "mixed",
                                                             "value"};

enum class Noise : uint8_t { kNone, kDrawn, kFresh };
constexpr std::array<std::string_view, 3> kNoiseNames = {"false", "true",
                                                         "fresh"};

struct GumbelOptions : MctsOptions {
  int candidates = 16;
  int root_actions = 0;
  float c_visit = 50;
  float c_scale = 0.1f;
  bool rescale = true;
  Noise noise = Noise::kDrawn;
  Unvisited unvisited = Unvisited::kScore;
  bool score_root = false;
  bool act = false;
  GumbelOptions() {
    simulations = 32;
    widen = false;
  }
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Int("candidates", &candidates, 1, 4096,
          "first steps that enter sequential halving");
    v.Int("root_actions", &root_actions, 0, 4096,
          "first steps to draw, if more than candidates");
    v.Real("c_visit", &c_visit, 0, 1e6f, "visit offset of sigma(q)");
    v.Real("c_scale", &c_scale, 0, 1e6f, "scale of sigma(q)");
    v.Flag("rescale", &rescale,
           "rescale q to [0, 1] over the actions in sigma(q)");
    VisitChoice(v, "noise", &noise, kNoiseNames,
                "Gumbel noise on the candidates' logits: none; as implied by "
                "the order in which they were drawn; or drawn independently, "
                "if the candidates are all actions");
    VisitChoice(v, "unvisited", &unvisited, kUnvisitedNames,
                "q of an unvisited step: its own score; a mean of visited "
                "siblings' q and the node's value; or the node's value");
    v.Flag("score_root", &score_root,
           "the reward model's value of the root counts as its first visit; "
           "otherwise its value is the best child's score");
    v.Flag("act", &act,
           "answer from the most visited first step: the best response below "
           "it, or its greedy completion");
  }
};

class GumbelRule {
 public:
  explicit GumbelRule(const GumbelOptions& options) : options_(options) {}

  // Stage 3.
  NodeId Pick(SearchContext& ctx, NodeId parent) {
    const Tree& tree = ctx.tree();
    Look(tree, parent);
    const auto sigma = Sigma(tree, parent);
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
    const auto sigma = Sigma(tree, kRoot);
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

  // The action that the paper takes; kNoNode if nothing was visited.
  NodeId Act(const Tree& tree, absl::Span<const float> perturbed) {
    Look(tree, kRoot);
    const auto sigma = Sigma(tree, kRoot);
    NodeId best = kNoNode;
    float most = 1, best_score = -INFINITY;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const float visits = actions_[i].visits;
      const float score = perturbed[i] + sigma[i];
      if (visits < most || (visits == most && score <= best_score)) continue;
      most = visits;
      best_score = score;
      best = ids_[i];
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
                : edge.in_flight > 0 ? OwnValue(tree, c)
                                     : FirstValue(tree, parent, c),
           .visits = static_cast<float>(edge.visits + edge.in_flight)});
    }
  }
  float FirstValue(const Tree& tree, NodeId parent, NodeId child) const {
    const Node& state = tree[tree.Original(child)];
    switch (options_.unvisited) {
      case Unvisited::kScore:
        return state.scored() ? OwnValue(tree, tree.Original(child)) : NAN;
      case Unvisited::kMixed:
        return NAN;
      case Unvisited::kValue:
        return OwnValue(tree, parent);
    }
    return NAN;
  }
  std::vector<float> Sigma(const Tree& tree, NodeId parent) const {
    float most = 0;
    for (const GumbelAction& a : actions_) most = std::max(most, a.visits);
    return SigmaQ(CompletedQ(actions_, OwnValue(tree, parent)), most,
                  options_.c_visit, options_.c_scale, options_.rescale);
  }

  const GumbelOptions& options_;
  std::vector<NodeId> ids_;  // current children
  std::vector<GumbelAction> actions_;
};

struct GumbelSearch : Mcts<GumbelRule> {
  using Mcts::Mcts;
  std::vector<float> perturbed;  // by child of the root
  HalvingSchedule schedule;
};

std::vector<float> Perturb(SearchContext& ctx, Noise noise,
                           absl::Span<const float> logprobs) {
  const RandomStream random = ctx.Stream(kRoot, Purpose::kSelect);
  switch (noise) {
    case Noise::kNone:
      break;
    case Noise::kDrawn:
      return PerturbedLogits(logprobs, random);
    case Noise::kFresh:
      return FreshlyPerturbedLogits(logprobs, random);
  }
  return {logprobs.begin(), logprobs.end()};
}

// The root's value by the reward model, which counts as its first visit.
Co<> ScoreRoot(SearchContext& ctx) {
  Tree& tree = ctx.tree();
  const std::vector<NodeId> root(1, kRoot);
  co_await ctx.Evaluate(root);
  if (!tree[kRoot].scored()) co_return;
  AddVisit(tree[kRoot], tree.score(kRoot));
  ctx.CountSimulation();
}

// Stage 1: the root's children, scored.
Co<> DrawCandidates(SearchContext& ctx, const GumbelOptions& options,
                    GumbelSearch& s) {
  const Tree& tree = ctx.tree();
  const int wanted = std::max(options.candidates, options.root_actions);
  int drawn = 0;
  while (drawn < 2 * wanted && !ctx.ShouldStop() &&
         static_cast<int>(tree[kRoot].num_children) < wanted) {
    const int n = std::min(wanted - static_cast<int>(tree[kRoot].num_children),
                           2 * wanted - drawn);
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
  s.perturbed = Perturb(ctx, options.noise, logprobs);
  s.schedule = HalvingSchedule(
      options.simulations,
      std::min(options.candidates, static_cast<int>(logprobs.size())));
}

// Stages 2 and 3.
Co<> GumbelWorker(SearchContext& ctx, GumbelSearch& s) {
  PathVisit visit(ctx.tree());
  while (!s.over && !ctx.ShouldStop() && s.started < s.options.simulations &&
         !TooIdle(s.idle, s.options.simulations)) {
    const NodeId candidate =
        s.rule.PickCandidate(ctx.tree(), s.perturbed, s.schedule.visits());
    if (candidate == kNoNode) break;
    s.schedule.Next();
    ++s.started;
    ++s.idle;
    visit.Begin();
    visit.Enter(candidate);
    co_await Simulate(ctx, s, visit);
  }
}

// Offers the best response below the action that the paper takes.
Co<> Act(SearchContext& ctx, GumbelSearch& s) {
  const Tree& tree = ctx.tree();
  const NodeId action = s.rule.Act(tree, s.perturbed);
  if (action == kNoNode) co_return;
  NodeId best = kNoNode;
  for (NodeId id = action; id < tree.size(); ++id) {
    NodeId up = id;
    while (tree.step(up).depth > tree.step(action).depth) up = tree[up].parent;
    if (up != action || !tree[id].terminal() || !tree[id].scored()) continue;
    if (best == kNoNode || tree.score(id) > tree.score(best)) {
      best = id;
    }
  }
  if (best == kNoNode) best = co_await CarryOn(ctx, action);
  if (best != kNoNode) ctx.Offer(best, tree[action].q);
}

Co<> RunGumbel(SearchContext& ctx, const GumbelOptions& options) {
  GumbelSearch search(options, GumbelRule(options));
  if (options.score_root) co_await ScoreRoot(ctx);
  co_await DrawCandidates(ctx, options, search);
  if (search.perturbed.empty()) co_return;
  std::vector<Co<>> workers;
  for (int i = 0; i < options.in_flight; ++i) {
    workers.push_back(GumbelWorker(ctx, search));
  }
  WhenAll all(workers);
  co_await all;
  if (options.act) co_await Act(ctx, search);
}

const RegisterAlgorithm<GumbelOptions> kGumbel(
    "gumbel", "Gumbel search: sequential halving over sampled first steps", {},
    &RunGumbel,
    MethodNotes{.source = "Gumbel MuZero, Danihelka et al. 2022; mctx",
                .when_to_use = "the budget covers 8 to 64 expansions",
                .test = "tests/search/mcts_test.cc"});

}  // namespace
}  // namespace espalier
