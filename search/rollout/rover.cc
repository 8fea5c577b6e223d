// Acting by the values of the uniform policy (ROVER, He et al. 2025,
// arXiv:2509.24981).
//
//   Q(s, a) = r(s, a) + mean over the children a' of Q(s', a')
//
// with r = path_score at an end and 0 before it, and path_score in place of the
// mean if a step has no children yet. The greedy policy for these values is
// optimal in trees with rewards of 0 and 1 at the ends; softmax keeps
// diversity.
//
// One response:
//   1. expand    a node reached for the first time: `branch` samples of the
//                next step, distinct ones are its children, all equally likely;
//   2. evaluate  them with the reward model;
//   3. back up   Q from the node to the root: Node::q of a node is the Q of the
//                step to it;
//   4. act       draw a child with probability exp(Q / rho) / sum, then repeat
//                1 or, if it was reached before, 4 from it, until the response
//                ends and votes with its path_score.
//
// A node without a step that can be continued is closed, and so are nodes that
// lead only to such nodes. A visit is a response that ended. The search ends
// after `responses`, when the budget is spent or when 64 consecutive responses
// sampled nothing. Without an end the best path is finished (finish.h).
//
// Differs: this is the paper's model of a tree whose values are known. The
// authors' program has no such tree: it trains a policy towards these values
// and samples from it as usual.
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct RoverOptions {
  int responses = 0;
  int branch = 4;
  float rho = 0.1f;  // Q is in [0, 1]: with rho = 1 all steps would be about
                     // equally likely
  float temperature = 1;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("responses", &responses, 0, 1 << 30,
          "number of responses; 0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples of a node's next step");
    v.Real("rho", &rho, 0, 1000,
           "temperature of the softmax over Q; 0: greedy");
    VisitTemperature(v, &temperature);
    VisitAnswerChoice(v, &choice);
  }
};

bool Usable(const Node& node) {
  return node.scored() && (node.flags & (kTruncated | kClosed)) == 0;
}

bool HasUsable(const Tree& tree, NodeId node) {
  for (const NodeId c : Children(tree, node)) {
    if (Usable(tree[c])) return true;
  }
  return false;
}

// Stage 3.
void BackUp(Tree& tree, NodeId id) {
  for (;; id = tree[id].parent) {
    double sum = 0;
    int children = 0;
    for (const NodeId c : Children(tree, id)) {
      if (!Usable(tree[c])) continue;
      sum += tree[c].q;
      ++children;
    }
    if (children == 0) tree[id].flags |= kClosed;
    tree[id].q = children == 0 ? 0 : static_cast<float>(sum / children);
    if (id == kRoot) return;
  }
}

// Stage 4: draws one of the usable children, of which there is at least one.
NodeId Act(const Tree& tree, NodeId node, float rho, RandomStream& draws) {
  NodeId best = kNoNode;
  for (const NodeId c : Children(tree, node)) {
    if (!Usable(tree[c])) continue;
    if (best == kNoNode || tree[c].q > tree[best].q) best = c;
  }
  if (rho == 0) return best;
  const auto mass = [&](NodeId c) {
    return Usable(tree[c]) ? std::exp((tree[c].q - tree[best].q) / rho) : 0.0f;
  };
  double total = 0;
  for (const NodeId c : Children(tree, node)) total += mass(c);
  double left = draws.UniformDouble() * total;
  for (const NodeId c : Children(tree, node)) {
    left -= mass(c);
    if (left < 0) return c;
  }
  return best;  // only if rounding exceeds the sum
}

// Returns the end of a response, or kNoNode.
Co<NodeId> Respond(SearchContext& ctx, const RoverOptions& options,
                   RandomStream& draws) {
  NodeId node = kRoot;
  std::vector<std::vector<NodeId>> found;
  while (!ctx.tree()[node].terminal()) {
    if (!HasUsable(ctx.tree(), node)) {
      co_await Propose(
          ctx, absl::MakeConstSpan(&node, 1),
          {.n = options.branch, .temperature = options.temperature}, true,
          found);
      // The budget was short, not the steps.
      if (found[0].empty() && ctx.ShouldStop()) co_return kNoNode;
      Tree& tree = ctx.tree();
      for (const NodeId step : found[0]) tree[step].q = tree.score(step);
      BackUp(tree, node);
      // Nothing new, or only nodes that are already closed.
      if (!HasUsable(tree, node)) co_return kNoNode;
    }
    node = Act(ctx.tree(), node, options.rho, draws);
  }
  co_return node;
}

Co<> RunRover(SearchContext& ctx, const RoverOptions& options) {
  Votes votes(options.choice);
  RandomStream draws = ctx.Stream(kRoot, Purpose::kSelect);
  int finished = 0, free = 0;
  while ((options.responses == 0 || finished < options.responses) &&
         free < 64 && !ctx.ShouldStop()) {
    const int64_t before = ctx.usage().tokens;
    const NodeId end = co_await Respond(ctx, options, draws);
    free = ctx.usage().tokens == before ? free + 1 : 0;
    ctx.CountSimulation();
    if (end == kNoNode) continue;
    ++finished;
    Tree& tree = ctx.tree();
    for (const NodeId id : tree.Path(end)) ++tree[id].visits;
    ++tree[kRoot].visits;
    votes.Add(ctx, end, tree.score(end));
    votes.Offer(ctx);
  }
}

const RegisterAlgorithm<RoverOptions> kRover(
    "rover", "responses sampled by the Q-values of the uniform policy",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunRover,
    MethodNotes{
        .source = "after ROVER's theory, He et al. 2025, arXiv:2509.24981",
        .when_to_use =
            "the policy is diverse and only finished responses are rewarded",
        .test = "tests/search/rollout_test.cc"});

}  // namespace
}  // namespace espalier
