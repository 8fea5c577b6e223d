#include "search/bandit/adaptive_branching.h"

#include "search/parts/rollout.h"

namespace espalier {
namespace {

// Stages 2 and 3: a scored node below `from`, or kNoNode.
Co<NodeId> Generate(SearchContext& ctx, const BranchingOptions& options,
                    NodeId from, Role by) {
  NodeId end = kNoNode;
  if (options.unit == GenerationUnit::kResponse) {
    end = co_await Rollout(ctx, from, options.temperature, by);
  } else {
    const Expansion step = co_await ctx.Expand(
        from, {.n = 1, .temperature = options.temperature}, by);
    if (!step.samples.empty()) end = step.samples[0];
  }
  if (end == kNoNode || ctx.tree()[end].truncated()) co_return kNoNode;
  if (!ctx.tree()[end].scored()) {
    co_await ctx.Evaluate(absl::MakeConstSpan(&end, 1));
    if (!ctx.tree()[end].scored()) co_return kNoNode;
  }
  co_return end;
}

}  // namespace

void BranchingOptions::Visit(OptionVisitor& v) {
  v.Int("simulations", &simulations, 0, 1 << 30,
        "0: until the budget is spent");
  VisitChoice(v, "unit", &unit, kGenerationUnitNames,
              "what is generated and scored at once");
  v.Real("temperature", &temperature, 0, 10, "of sampling");
  v.Int("patience", &patience, 0, 1 << 20,
        "draws in a row without a new child after which a node gets no more; "
        "0: it always does");
  v.Int("models", &models, 1, static_cast<int>(kModelRoles.size()),
        "models that write: policy, second, planner, prover");
  VisitChoice(v, "model_choice", &model_choice, kModelChoiceNames,
              "how one of several models is chosen");
  VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
              "how finished responses make the answer");
}

void ArmChooser::Observed(NodeId, NodeId, double) {}

Co<> RunAdaptiveBranching(SearchContext& ctx, const BranchingOptions& options,
                          ArmTree& arms, ArmChooser& chooser) {
  Votes votes(options.choice, {.simulations = options.simulations});
  ModelArms models(options.models, options.model_choice);
  for (int64_t i = 0; (options.simulations == 0 || i < options.simulations) &&
                      !arms[kRoot].closed && !ctx.ShouldStop();
       ++i) {
    RandomStream random =
        ctx.Stream(kRoot, Purpose::kSelect, static_cast<uint64_t>(i));
    NodeId from = kRoot;
    for (NodeId next = kRoot; next != kNoNode;) {
      from = next;
      next = chooser.ChooseChild(from, random);
    }
    const int model =
        options.model_choice == ModelChoice::kRandom && options.models > 1
            ? static_cast<int>(random.UniformDouble() * options.models)
            : chooser.ChooseModel(models, random);
    const int64_t before = ctx.usage().tokens;
    const NodeId end = co_await Generate(
        ctx, options, from, kModelRoles[static_cast<size_t>(model)]);
    ctx.CountSimulation();
    if (end == kNoNode) {
      arms.ObserveNothing(from, ctx.usage().tokens == before);
      continue;
    }
    const float score = ctx.tree().step(end).path_score;
    arms.Observe(from, end, score);
    models.Add(model, score);
    chooser.Observed(from, end, score);
    if (!ctx.tree()[end].terminal()) continue;
    votes.Add(ctx, end, score);
    votes.Offer(ctx);
  }
}

}  // namespace espalier
