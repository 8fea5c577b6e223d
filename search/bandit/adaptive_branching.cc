#include "search/bandit/adaptive_branching.h"

#include <algorithm>
#include <vector>

#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

struct Simulation {
  NodeId from;
  int model;
  NodeId end = kNoNode;  // scored; kNoNode: no result
};

// Stages 2 and 3. Returns a scored node below `from`, or kNoNode.
Co<NodeId> Generate(SearchContext& ctx, const BranchingOptions& options,
                    NodeId from, ModelRole by) {
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

Co<> Run(SearchContext& ctx, const BranchingOptions& options, Simulation& s) {
  s.end = co_await Generate(ctx, options, s.from,
                            kModelRoles[static_cast<size_t>(s.model)]);
}

// Stage 1, and which model generates.
Simulation Choose(const BranchingOptions& options, const ModelArms& models,
                  ArmChooser& chooser, RandomStream& random) {
  NodeId from = kRoot;
  for (NodeId next = kRoot; next != kNoNode;) {
    from = next;
    next = chooser.ChooseChild(from, random);
  }
  const bool any =
      options.model_choice == ModelChoice::kRandom && options.models > 1;
  return {
      .from = from,
      .model = any ? static_cast<int>(random.UniformDouble() * options.models)
                   : chooser.ChooseModel(models, random)};
}

}  // namespace

void BranchingOptions::Visit(OptionVisitor& v) {
  v.Int("simulations", &simulations, 0, 1 << 30,
        "number of simulations; 0: until the budget is spent");
  v.Int("batch", &batch, 1, 4096,
        "simulations selected before any of them generates");
  VisitChoice(v, "unit", &unit, kGenerationUnitNames,
              "what one simulation generates and scores");
  VisitTemperature(v, &temperature);
  v.Int("patience", &patience, 0, 1 << 20,
        "consecutive draws without a new child after which a node is no longer "
        "sampled; 0: never");
  v.Int("models", &models, 1, static_cast<int>(kModelRoles.size()),
        "number of generating models, in the order policy, second, planner, "
        "prover");
  VisitChoice(v, "model_choice", &model_choice, kModelChoiceNames,
              "how one of several generating models is chosen");
  VisitAnswerChoice(v, &choice);
}

void ArmChooser::Observed(NodeId, NodeId, int, double) {}

Co<> RunAdaptiveBranching(SearchContext& ctx, const BranchingOptions& options,
                          ArmTree& arms, ArmChooser& chooser) {
  Votes votes(options.choice, {.simulations = options.simulations});
  ModelArms models(options.models, options.model_choice);
  std::vector<Simulation> batch;
  int64_t chosen = 0;
  while ((options.simulations == 0 || chosen < options.simulations) &&
         !arms[kRoot].closed && !ctx.ShouldStop()) {
    batch.clear();
    do {
      RandomStream random =
          ctx.Stream(kRoot, Purpose::kSelect, static_cast<uint64_t>(chosen++));
      batch.push_back(Choose(options, models, chooser, random));  // 1
    } while (static_cast<int>(batch.size()) < options.batch &&
             chosen != options.simulations);
    const int64_t before = ctx.usage().tokens;
    std::vector<Co<>> running;
    for (Simulation& s : batch) running.push_back(Run(ctx, options, s));
    WhenAll all(running);
    co_await all;  // 2, 3
    const bool nothing = ctx.usage().tokens == before;
    for (const Simulation& s : batch) {  // 4
      ctx.CountSimulation();
      if (s.end == kNoNode) {
        arms.ObserveNothing(s.from, nothing);
        continue;
      }
      const float score = ctx.tree().score(s.end);
      arms.Observe(s.from, s.end, score);
      models.Add(s.model, score);
      chooser.Observed(s.from, s.end, s.model, score);
      if (!ctx.tree()[s.end].terminal()) continue;
      votes.Add(ctx, s.end, score);
      votes.Offer(ctx);
    }
  }
}

}  // namespace espalier
