// MCTSr (T16): Monte-Carlo self-refinement. Nodes are whole answers, children
// are rewrites of them (LLaMA-Berry, Zhang et al. 2024, arXiv:2410.02884).
// Formulas and the tree of answers in refine_tree.h.
//
//   1. begin    one answer;
//   2. select   the open answer of highest UCB;
//   3. rewrite  it: `tail` keeps what stands before the step that the reward
//               model likes least and writes on from there; `whole` writes a
//               new answer;
//   4. evaluate r = 200 score - 100 of the rewrite;
//   5. backup   through the answers that it descends from.
//
// A policy that follows instructions would be told what is wrong and asked
// anew; a step model does the same by starting over where it went wrong.
#include <array>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/choose.h"
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
  float temperature = 1;
  Rewrite rewrite = Rewrite::kTail;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "answers written; 0: until the budget is spent");
    v.Int("children", &children, 1, 4096,
          "rewrites after which an answer with a better one is closed");
    v.Real("c", &c, 0, 1e4f, "exploration constant, in units of the reward");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "rewrite", &rewrite, kRewriteNames, "see the method");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

// Stage 3, `tail`: what the answer that ends in `end` keeps.
NodeId Kept(const Tree& tree, NodeId end) {
  NodeId worst = end;
  for (NodeId id = end; id != kRoot; id = tree[id].parent) {
    // The first of equals: errors are found where they were made.
    if (tree.step(id).step_score <= tree.step(worst).step_score) worst = id;
  }
  return tree[worst].parent;
}

// Stages 3 and 4: the end of a new answer whose steps are scored, or kNoNode.
Co<NodeId> Write(SearchContext& ctx, NodeId from, float temperature) {
  const NodeId end = co_await Rollout(ctx, from, temperature);
  if (end == kNoNode) co_return kNoNode;
  const std::vector<NodeId> path = ctx.tree().Path(end);
  const Evaluation evaluation = co_await ctx.Evaluate(path);
  if (!evaluation.done && !ctx.tree()[end].scored()) co_return kNoNode;
  co_return end;
}

Co<> RunMctsr(SearchContext& ctx, const RefineOptions& options) {
  Tree& tree = ctx.tree();
  RefineTree answers(options.c, options.children);
  Votes votes(options.choice);
  for (int i = 0; options.simulations == 0 || i < options.simulations; ++i) {
    const int64_t before = ctx.usage().tokens;
    int selected = -1;  // 1
    NodeId from = kRoot;
    if (answers.size() > 0) {
      selected = answers.Select();  // 2
      if (selected < 0) break;
      if (options.rewrite == Rewrite::kTail) {
        from = Kept(tree, answers[selected].end);
      }
    }
    const NodeId end = co_await Write(ctx, from, options.temperature);  // 3, 4
    if (ctx.ShouldStop() && end == kNoNode) break;
    if (end != kNoNode) {
      const float score = tree.step(end).path_score;
      answers.Add(selected, end, RefineReward(score));  // 5
      AddVisit(tree[kRoot], score);
      for (const NodeId id : tree.Path(end)) AddVisit(tree[id], score);
      votes.Add(ctx, end, score);
      votes.Offer(ctx);
    } else if (ctx.usage().tokens == before) {
      break;  // nothing more will come
    }
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<RefineOptions> kMctsr(
    "mctsr", "MCTSr: a tree of answers that rewrite one another",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunMctsr,
    MethodNotes{
        .source = "LLaMA-Berry, Zhang et al. 2024, arXiv:2410.02884",
        .when_to_use =
            "the model improves whole answers when it is asked to rewrite them",
        .test = "tests/search/refine_test.cc"});

}  // namespace
}  // namespace espalier
