// VM-MCTS (T11): value-model-guided tree search over the lines of whole
// completions (ReST-RL, Zhoubian et al. 2025, arXiv:2508.19576).
//
//   1. select    from the root, the kept child with the highest
//                  V(c) + C sqrt((1 + ln N(s)) / (.1 + N(c))),
//                until a node that was not completed yet;
//   2. complete  `samples` whole completions of it; their first steps are its
//                children, with those that earlier completions went through;
//   3. evaluate  the children and the ends; the best `keep` children stay;
//   4. backup    V(s) = sum_c N(c) V(c) / sum_c N(c) up to the root; with
//                own_value (decoding) a node's own V counts as one visit.
//
// All completions are scored and the best one is the answer. C = .2 and keep 3
// to collect training data, C = .1 and keep 5 to decode; 5 samples.
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/backup.h"
#include "search/parts/choose.h"
#include "search/parts/close.h"
#include "search/parts/path_visit.h"
#include "search/parts/prior.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

struct VmOptions {
  int simulations = 0;
  int samples = 5;
  int keep = 5;
  float c = 0.1f;
  float temperature = 1;
  bool own_value = true;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "0: until the budget is spent");
    v.Int("samples", &samples, 1, 4096, "completions of a node");
    v.Int("keep", &keep, 1, 4096, "children kept, by value");
    v.Real("c", &c, 0, 1000, "exploration constant C");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Flag("own_value", &own_value, "a node's own value counts as one visit");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

// Stage 1, one level: kNoNode if all children are closed.
NodeId Pick(const Tree& tree, NodeId parent, float c) {
  const float log_n =
      std::log(std::max(1.0f, static_cast<float>(tree[parent].visits)));
  NodeId best = kNoNode;
  float best_score = -INFINITY;
  for (const NodeId child : Children(tree, parent)) {
    const Node& node = tree[child];
    if (!Open(tree, child) || node.terminal()) continue;
    const float n = static_cast<float>(node.visits);
    const float score = node.q + c * std::sqrt((1 + log_n) / (0.1f + n));
    if (score > best_score) {
      best_score = score;
      best = child;
    }
  }
  return best;
}

// Stage 3: drops all but the best `keep` of the children of `parent`.
void KeepBest(Tree& tree, NodeId parent, int keep) {
  std::vector<NodeId> children;
  for (const NodeId c : Children(tree, parent)) {
    if (tree[c].scored()) {
      tree[c].q = tree.step(c).path_score;
      children.push_back(c);
    } else {
      tree[c].flags |= kClosed;
    }
  }
  std::stable_sort(children.begin(), children.end(), [&](NodeId a, NodeId b) {
    return tree.step(a).path_score > tree.step(b).path_score;
  });
  for (size_t i = static_cast<size_t>(keep); i < children.size(); ++i) {
    tree[children[i]].flags |= kClosed;
  }
  // A response of one step more is finished, not searched on.
  for (const NodeId c : children) {
    if (tree[c].terminal()) tree[c].flags |= kClosed;
  }
}

// Stage 4.
void BackUp(Tree& tree, PathVisit& visit, bool own_value) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  for (size_t i = path.size() - 1; i-- > 0;) {
    Node& node = tree[path[i]];
    float visits = 0, sum = 0;
    if (own_value && node.scored()) {
      visits = 1;
      sum = tree.step(path[i]).path_score;
    }
    for (const NodeId c : Children(tree, path[i])) {
      visits += static_cast<float>(tree[c].visits);
      sum += static_cast<float>(tree[c].visits) * tree[c].q;
    }
    if (visits > 0) node.q = sum / visits;
  }
}

Co<> RunVm(SearchContext& ctx, const VmOptions& options) {
  Tree& tree = ctx.tree();
  Votes votes(options.choice,
              {.simulations = options.simulations, .votes = options.samples});
  PathVisit visit(tree);
  std::vector<bool> completed;  // by node
  for (int i = 0; options.simulations == 0 || i < options.simulations; ++i) {
    if (ctx.ShouldStop() || tree[kRoot].closed()) break;
    visit.Begin();  // 1
    completed.resize(tree.size());
    while (completed[visit.last()]) {
      const NodeId next = Pick(tree, visit.last(), options.c);
      if (next == kNoNode) break;
      visit.Enter(next);
    }
    const NodeId leaf = visit.last();
    completed[leaf] = true;
    std::vector<NodeId> ends;  // 2
    for (int k = 0; k < options.samples; ++k) {
      const NodeId end = co_await Rollout(ctx, leaf, options.temperature);
      if (end != kNoNode) ends.push_back(end);
    }
    std::vector<NodeId> scored = ends;  // 3
    for (const NodeId c : Children(tree, leaf)) {
      if (!tree[c].truncated()) scored.push_back(c);
    }
    if (scored.empty()) {
      visit.Abandon();
      if (ctx.ShouldStop()) break;
      tree[leaf].flags |= kTruncated;  // nothing follows: never again
      if (leaf == kRoot) break;
      continue;
    }
    const Evaluation evaluation = co_await ctx.Evaluate(scored);
    if (!evaluation.done && !tree[scored.back()].scored()) {
      visit.Abandon();
      break;
    }
    KeepBest(tree, leaf, options.keep);
    for (const NodeId end : ends) {
      votes.Add(ctx, end, tree.step(end).path_score);
      votes.Offer(ctx);
    }
    BackUp(tree, visit, options.own_value);  // 4
    ctx.CountSimulation();
    if (AllChildrenClosed(tree, leaf)) {
      CloseUpwards(tree, visit.path(), [](NodeId) { return true; });
    }
  }
}

const RegisterAlgorithm<VmOptions> kVm(
    "vm_mcts", "VM-MCTS of ReST-RL: whole completions, their first steps kept",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunVm,
    MethodNotes{.source = "ReST-RL, Zhoubian et al. 2025, arXiv:2508.19576",
                .when_to_use = "whole completions are cheap, as in code, and a "
                               "value model ranks first steps",
                .test = "tests/search/mcts_formulas_test.cc"});

}  // namespace
}  // namespace espalier
