// MCTS* (T10): the search of ReST-MCTS* (Zhang et al. 2024, arXiv:2406.03816).
//
//   1. select    the child with the highest
//                  V(c) + C sqrt(2 ln N(s) / N(c)),  V(c) + INF if unvisited;
//   2. expand    `branch` samples;
//   3. evaluate  V(c) by the reward model;
//   4. simulate  two greedy steps on from the best new child, whose value
//                becomes (1 - a) V + a max over the steps (forward.h);
//   5. backup    V(s) = sum_c N(c) V(c) / sum_c N(c), up to the root.
//
// A finished response whose value is at least `gate` ends the search. C = .4,
// INF = .8, a = .5, gate = .9, branch 3 as in its code.
#include <cmath>

#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

struct StarOptions : MctsOptions {
  float c = 0.4f;
  float unvisited = 0.8f;
  float gate = 0.9f;
  StarOptions() {
    branch = 3;
    forward = 2;
    widen = false;
    descend = Descend::kNone;
    choice = AnswerChoice::kBest;
  }
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Real("c", &c, 0, 1000, "exploration constant C");
    v.Real("unvisited", &unvisited, 0, 1000, "bonus INF of unvisited children");
    v.Real("gate", &gate, 0, 2,
           "a response worth at least this ends the search; above 1: none");
  }
};

class StarRule {
 public:
  explicit StarRule(const StarOptions& options) : options_(options) {}

  NodeId Pick(SearchContext& ctx, NodeId parent) const {
    const Tree& tree = ctx.tree();
    const float log_n = std::log(static_cast<float>(
        std::max(1u, StateVisits(tree, parent, options_.share))));
    return PickHighest(
        tree, parent, [&](NodeId, const Node& edge, const Node& state) {
          const float n = static_cast<float>(edge.visits + edge.in_flight);
          const float bonus = n == 0 ? options_.unvisited
                                     : options_.c * std::sqrt(2 * log_n / n);
          const bool first = edge.visits == 0 && edge.in_flight > 0;
          return bonus +
                 (first ? edge.q
                        : WithVirtualLoss(edge, state, options_.virtual_loss));
        });
  }

  void Sampled(Tree&, NodeId) const {}
  // V of a node is in q from its creation on.
  void Scored(Tree& tree, NodeId parent) const { StartAtScores(tree, parent); }
  void Backup(Tree& tree, PathVisit& visit, float value) const {
    ChildrenBackup(tree, visit, LeafValue(tree, visit, value, options_.verify));
  }
  bool Ends(const Tree& tree, NodeId leaf) const {
    return tree[leaf].terminal() && tree[leaf].q >= options_.gate;
  }

 private:
  const StarOptions& options_;
};

Co<> RunStar(SearchContext& ctx, const StarOptions& options) {
  co_await RunMcts(ctx, options, StarRule(options));
}

const RegisterAlgorithm<StarOptions> kStar(
    "mcts_star", "MCTS* of ReST-MCTS*: values of children weigh by visits", {},
    &RunStar,
    MethodNotes{.source = "ReST-MCTS*, Zhang et al. 2024, arXiv:2406.03816",
                .when_to_use = "the reward model values unfinished paths well "
                               "and responses are long",
                .test = "tests/search/mcts_test.cc"});

}  // namespace
}  // namespace espalier
