// Monte-Carlo self-refinement. Nodes are whole answers, children are rewrites
// of them (MCTSr, Zhang et al. 2024, arXiv:2406.07394; LLaMA-Berry,
// arXiv:2410.02884). Formulas and the tree of answers are in refine_tree.h.
//
//   1. begin    one answer; with `dummy` a second root that says "I don't
//               know", so that a fresh start can be selected;
//   2. select   the open answer of highest UCB, and reward it again;
//   3. rewrite  it: `tail` keeps the steps before the one with the lowest
//               reward model score and continues from there; `whole` generates
//               a new answer;
//   4. evaluate the rewrite: r = 200 score - 100;
//   5. update   the UCBs of the rewrite, of the answer it rewrites and of their
//               neighbours.
//
// Differs: MCTSr tells an instruction-following policy what is wrong and
// prompts it again; a step model instead restarts where the error is. The
// program samples a new judgement for each reward; a reward model is
// deterministic, so it is called once and its reward counted again. The program
// stops at an answer that matches the reference and does not choose one; here
// all answers vote.
#include <array>
#include <string>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"
#include "search/refine/refine_tree.h"

namespace espalier {
namespace {

enum class Rewrite : uint8_t { kTail, kWhole };
constexpr std::array<std::string_view, 2> kRewriteNames = {"tail", "whole"};

struct RefineOptions {
  int simulations = 0;
  int children = 3;
  float c = 1.4f;
  bool dummy = true;
  float temperature = 1;
  Rewrite rewrite = Rewrite::kTail;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "rewrites; 0: until the budget is spent");
    v.Int("children", &children, 1, 4096,
          "rewrites after which an answer closes if one is at least as good");
    v.Real("c", &c, 0, 1e4f, "exploration constant, in units of the reward");
    v.Flag("dummy", &dummy,
           "add a second root: an answer that says it does not know");
    VisitTemperature(v, &temperature);
    VisitChoice(v, "rewrite", &rewrite, kRewriteNames,
                "what a rewrite regenerates: the steps from the lowest-scored "
                "one on, or the whole answer");
    VisitAnswerChoice(v, &choice);
  }
};

// Stage 3, `tail`: the prefix kept of the answer that ends in `end`.
NodeId Kept(const Tree& tree, NodeId end) {
  NodeId worst = end;
  for (NodeId id = end; id != kRoot; id = tree[id].parent) {
    // The first of equals: errors are found where they were made.
    if (tree.step(id).step_score <= tree.step(worst).step_score) worst = id;
  }
  return tree[worst].parent;
}

// Stages 3 and 4. Returns the end of a new, scored answer, or kNoNode.
Co<NodeId> Write(SearchContext& ctx, NodeId from, float temperature) {
  const NodeId end = co_await Rollout(ctx, from, temperature);
  if (end == kNoNode) co_return kNoNode;
  const std::vector<NodeId> path = ctx.tree().Path(end);
  const Evaluation evaluation = co_await ctx.Evaluate(path);
  if (!evaluation.done && !ctx.tree()[end].scored()) co_return kNoNode;
  co_return end;
}

struct Refining {
  Refining(SearchContext& ctx, const RefineOptions& options)
      : answers(options.c, options.children),
        votes(options.choice),
        dummy("I do not know." + ctx.format().delimiter) {}
  RefineTree answers;
  Votes votes;
  const std::string dummy;
};

// Adds one more reward to the answer that ends in `end`, as a visit of its
// steps.
double Rewarded(Tree& tree, NodeId end) {
  const float score = tree.score(end);
  AddVisit(tree[kRoot], score);
  for (const NodeId id : tree.Path(end)) AddVisit(tree[id], score);
  return RefineReward(score);
}

// Adds a rewrite of `selected` (-1: of none).
void AddAnswer(SearchContext& ctx, Refining& s, int selected, NodeId end) {
  s.answers.Add(selected, end, Rewarded(ctx.tree(), end));
  s.votes.Add(ctx, end, ctx.tree().score(end));
  s.votes.Offer(ctx);
}

// Stage 1. False if nothing was generated.
Co<bool> Begin(SearchContext& ctx, Refining& s, const RefineOptions& options) {
  NodeId end = kNoNode;
  while (end == kNoNode) {
    const int64_t before = ctx.usage().tokens;
    end = co_await Write(ctx, kRoot, options.temperature);
    if (end == kNoNode && (ctx.ShouldStop() || ctx.usage().tokens == before)) {
      co_return false;
    }
  }
  AddAnswer(ctx, s, -1, end);
  if (options.dummy && !ctx.ShouldStop()) {
    const Expansion forced = co_await ctx.Expand(kRoot, {.forced = s.dummy});
    if (!forced.samples.empty()) {
      const std::vector<NodeId> dummy = {forced.samples[0]};
      co_await ctx.Evaluate(dummy);
      if (ctx.tree()[dummy[0]].scored()) {
        s.answers.Add(-1, dummy[0], Rewarded(ctx.tree(), dummy[0]));
      }
    }
  }
  s.answers.Update();
  ctx.CountSimulation();
  co_return true;
}

Co<> RunMctsr(SearchContext& ctx, const RefineOptions& options) {
  Tree& tree = ctx.tree();
  Refining s(ctx, options);
  const bool begun = co_await Begin(ctx, s, options);  // 1
  if (!begun) co_return;
  for (int i = 0; options.simulations == 0 || i < options.simulations; ++i) {
    if (ctx.ShouldStop()) break;
    const int64_t before = ctx.usage().tokens;
    const int selected = s.answers.Select();  // 2
    if (selected < 0) break;
    const NodeId old = s.answers[selected].end;
    s.answers.Reward(selected, Rewarded(tree, old));
    const NodeId from =
        options.rewrite == Rewrite::kTail ? Kept(tree, old) : kRoot;
    const NodeId end = co_await Write(ctx, from, options.temperature);  // 3, 4
    if (end != kNoNode) {
      AddAnswer(ctx, s, selected, end);
    } else if (ctx.ShouldStop() || ctx.usage().tokens == before) {
      break;  // no more samples will come
    }
    s.answers.Update();  // 5
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<RefineOptions> kMctsr(
    "mctsr", "MCTSr: a tree of answers, each a rewrite of its parent",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunMctsr,
    MethodNotes{
        .source = "MCTSr, Zhang et al. 2024, arXiv:2406.07394; "
                  "LLaMA-Berry, arXiv:2410.02884",
        .when_to_use =
            "the model improves whole answers when asked to rewrite them",
        .test = "tests/search/refine_test.cc"});

}  // namespace
}  // namespace espalier
