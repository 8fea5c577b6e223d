// PUCT tree search over sampled steps (T8; AlphaZero, openr, lc0), with
// widening (T31) and several requests in flight by virtual visits.
//
// One simulation:
//   1. select    from the root, the child with the highest
//                  Q(c) + c(N) P(c) sqrt(N(s)) / (1 + N(c) + in_flight(c)),
//                  c(N) = c1 + ln((N(s) + c2 + 1) / c2),
//                where N counts finished visits and those in flight, P is the
//                softmax over siblings of summed token log-probs, and an
//                unvisited child's Q is its own score (or, with
//                first_value=parent, Q(s) - fpu * sqrt(visited prior mass));
//   2. expand    the leaf reached: `branch` samples of the next step, equal
//                ones are one child with more draws;
//   3. evaluate  the new children with the reward model;
//   4. descend   (if set) go on from the leaf by 1-3 until a response ends, so
//                that every simulation yields an answer;
//   5. backup    the score of the node reached into every node of its path.
//
// widen: a node asks for one further sample when its visits reach (k/2)^2,
// k its distinct children. A node that yields nothing new is left as it is.
//
// Virtual visits: a path selected but not backed up counts as in flight and
// spreads simultaneous selections. With in_flight = 1 they change nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/choose.h"

namespace espalier {
namespace {

enum class FirstValue : uint8_t { kScore, kParent };
constexpr std::array<std::string_view, 2> kFirstValueNames = {"score",
                                                              "parent"};

struct PuctOptions {
  int simulations = 0;
  int branch = 4;
  int in_flight = 1;
  float temperature = 1;
  float c1 = 1.25f;
  float c2 = 19652;
  float fpu = 0.33f;
  FirstValue first_value = FirstValue::kScore;
  bool mean_logprob = false;
  bool widen = true;
  bool descend = true;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples when a leaf is expanded");
    v.Int("in_flight", &in_flight, 1, 4096, "simulations under way at once");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("c1", &c1, 0, 1000, "exploration constant");
    v.Real("c2", &c2, 1, 1e9f, "visits at which exploration grows");
    v.Real("fpu", &fpu, 0, 10, "first-play reduction (first_value=parent)");
    VisitChoice(v, "first_value", &first_value, kFirstValueNames,
                "Q of a child before its first visit");
    v.Flag("mean_logprob", &mean_logprob,
           "prior from the mean token log-prob instead of the sum");
    v.Flag("widen", &widen, "sample further children as visits grow (T31)");
    v.Flag("descend", &descend, "follow every simulation to an answer");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct Simulation {
  enum class Stage { kExpanding, kEvaluating };
  Stage stage = Stage::kExpanding;
  NodeId leaf = kRoot;  // every node from it to the root has a visit in flight
  Awaiting<Expansion> expansion{};
  Awaiting<Evaluation> evaluation{};
};

class Puct {
 public:
  Puct(Tree& tree, const PuctOptions& options)
      : options_(options), tree_(tree) {}

  // Selects from `node` down to a node to expand or a terminal, adding a visit
  // in flight to every node below `node` on the way.
  NodeId Select(NodeId node) {
    while (tree_[node].num_children > 0 && !Widens(node)) {
      node = BestChild(node);
      ++tree_[node].in_flight;
    }
    return node;
  }

  // What to ask for at a selected node.
  ExpandOptions Ask(NodeId node) const {
    return {.n = tree_[node].num_children == 0 ? options_.branch : 1,
            .temperature = options_.temperature};
  }

  // A node's own score; of one without (the root) the best of its children's.
  float Value(NodeId id) const {
    if (tree_[id].scored()) return tree_[id].path_score;
    float best = 0;
    for (const NodeId c : Children(tree_, id)) {
      if (tree_[c].scored()) best = std::max(best, tree_[c].path_score);
    }
    return best;
  }

  void SetPriors(NodeId parent) {
    float highest = -INFINITY, sum = 0;
    for (const NodeId c : Children(tree_, parent)) {
      highest = std::max(highest, Logit(c));
    }
    for (const NodeId c : Children(tree_, parent)) {
      tree_[c].prior = std::exp(Logit(c) - highest);
      sum += tree_[c].prior;
    }
    for (const NodeId c : Children(tree_, parent)) tree_[c].prior /= sum;
  }

  // Turns the visits in flight from `leaf` to the root into finished ones.
  void Backup(NodeId leaf, float value) {
    for (NodeId id = leaf;; id = tree_[id].parent) {
      --tree_[id].in_flight;
      AddVisit(tree_[id], value);
      if (id == kRoot) break;
    }
  }

  // Takes the visits in flight back: the simulation could not be finished.
  void Abandon(NodeId leaf) {
    for (NodeId id = leaf;; id = tree_[id].parent) {
      --tree_[id].in_flight;
      if (id == kRoot) break;
    }
  }

 private:
  float Logit(NodeId id) const {
    const Node& node = tree_[id];
    const float tokens = std::max<float>(1, node.num_tokens);
    return options_.mean_logprob ? node.logprob / tokens : node.logprob;
  }

  // T31, once per visit: a request for the next child is not already out.
  bool Widens(NodeId id) const {
    if (!options_.widen) return false;
    const Node& node = tree_[id];
    const float half = static_cast<float>(node.num_children) / 2;
    const int asked = tree_.samples_drawn(id);
    const bool due = static_cast<float>(node.visits) >= half * half;
    // Samples that came out equal do not make the node ask for ever.
    return due && static_cast<uint32_t>(asked) <
                      2 * static_cast<uint32_t>(options_.branch) + node.visits;
  }

  NodeId BestChild(NodeId id) const {
    const Node& node = tree_[id];
    const float n = static_cast<float>(node.visits + node.in_flight);
    const float c = options_.c1 + std::log((n + options_.c2 + 1) / options_.c2);
    float visited_mass = 0;
    for (const NodeId child : Children(tree_, id)) {
      if (tree_[child].visits > 0) visited_mass += tree_[child].prior;
    }
    const float fpu = node.q - options_.fpu * std::sqrt(visited_mass);
    NodeId best = kNoNode;
    float best_score = -INFINITY;
    for (const NodeId child : Children(tree_, id)) {
      const Node& ch = tree_[child];
      if (ch.truncated()) continue;
      float q = ch.q;
      if (ch.visits == 0) {
        const bool own = options_.first_value == FirstValue::kScore;
        q = own && ch.scored() ? ch.path_score : fpu;
      }
      const float u = c * ch.prior * std::sqrt(n) /
                      static_cast<float>(1 + ch.visits + ch.in_flight);
      if (q + u > best_score) {
        best_score = q + u;
        best = child;
      }
    }
    return best == kNoNode ? tree_[id].first_child : best;
  }

  const PuctOptions& options_;
  Tree& tree_;
};

// Starts or continues a simulation at `node`: selects, and either sends the
// next request (true) or finds it finished at a terminal (false).
bool Advance(SearchContext& ctx, Puct& puct, Simulation& s, NodeId node) {
  s.leaf = puct.Select(node);
  const Node& leaf = ctx.tree()[s.leaf];
  if (leaf.terminal() || leaf.truncated()) return false;
  s.stage = Simulation::Stage::kExpanding;
  s.expansion = ctx.Expand(s.leaf, puct.Ask(s.leaf));
  return true;
}

Co<> RunPuct(SearchContext& ctx, const PuctOptions& options) {
  Puct puct(ctx.tree(), options);
  Votes votes(options.choice);
  std::deque<Simulation> under_way;
  int started = 0;
  const auto finish = [&](const Simulation& s) {
    puct.Backup(s.leaf, puct.Value(s.leaf));
    ctx.CountSimulation();
    if (!ctx.tree()[s.leaf].terminal()) return;
    votes.Add(ctx, s.leaf, puct.Value(s.leaf));
    votes.Offer(ctx);
  };
  while (true) {
    // Terminals reached again cost nothing; at most as many in a row as there
    // are simulations in flight, plus what a finished tree may still vote.
    int free_visits = 0;
    while (static_cast<int>(under_way.size()) < options.in_flight &&
           (options.simulations == 0 || started < options.simulations) &&
           free_visits < 64 && !ctx.ShouldStop()) {
      Simulation s;
      ++started;
      ++ctx.tree()[kRoot].in_flight;
      if (Advance(ctx, puct, s, kRoot)) {
        under_way.push_back(s);
      } else {
        finish(s);
        ++free_visits;
      }
    }
    if (under_way.empty()) break;
    Simulation s = under_way.front();
    under_way.pop_front();
    if (s.stage == Simulation::Stage::kExpanding) {
      const Expansion expansion = co_await s.expansion;
      if (expansion.samples.empty()) {
        // Nothing can follow, and not for want of budget: never select it
        // again.
        if (!ctx.ShouldStop()) ctx.tree()[s.leaf].flags |= kTruncated;
        puct.Abandon(s.leaf);
        continue;
      }
      s.evaluation = ctx.Evaluate(expansion.samples);
      s.stage = Simulation::Stage::kEvaluating;
      under_way.push_back(s);
      continue;
    }
    co_await s.evaluation;
    puct.SetPriors(s.leaf);
    if (options.descend && !ctx.ShouldStop()) {
      if (Advance(ctx, puct, s, s.leaf)) {
        under_way.push_back(s);
        continue;
      }
    }
    finish(s);
  }
}

const RegisterAlgorithm<PuctOptions> kPuct(
    "puct", "PUCT tree search with widening and virtual visits",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunPuct);

}  // namespace
}  // namespace espalier
