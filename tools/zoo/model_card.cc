#include "tools/zoo/model_card.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "src/eval/statistics.h"
#include "src/eval/step_report.h"
#include "src/eval/sweep.h"

namespace espalier {
namespace {

constexpr int kBranch = 4;

std::string Share(int64_t k, int64_t n) {
  const Interval i = WilsonInterval(k, n);
  return absl::StrFormat(
      "%.1f [%.1f, %.1f]",
      n == 0 ? 0.0 : 100.0 * static_cast<double>(k) / static_cast<double>(n),
      100 * i.low, 100 * i.high);
}

// One row of the table of results.
absl::StatusOr<std::string> MeasureSet(Engine& engine, const std::string& name,
                                       const Task& task,
                                       const Verifier& verifier, int problems) {
  ESP_ASSIGN_OR_RETURN(
      const ProblemSet set,
      LoadSet(name, {.limit = problems, .seed = kFirstTestSeed}));
  ESP_ASSIGN_OR_RETURN(const std::vector<ResultRow> rows,
                       RunSweep(engine, name, set.problems, task, verifier,
                                {.methods = {"greedy"}, .budgets = {2000}}));
  ESP_ASSIGN_OR_RETURN(const StepReport steps,
                       MakeStepReport(engine, set.problems, task, verifier,
                                      {.branch = kBranch}));
  return absl::StrFormat("| %s | %s | %s | %s | %.3f | %.3f |\n", name,
                         Share(rows[0].successes(), rows[0].n()),
                         Share(steps.right, steps.samples),
                         Share(steps.any_right, steps.prefixes), steps.path_auc,
                         steps.step_auc);
}

}  // namespace

absl::Status WriteModelCard(const std::string& folder, const ZooReport& facts,
                            int problems) {
  const ZooFamily& family = *facts.family;
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(std::string(family.task())));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier,
                       FindVerifier(std::string(family.task())));
  ESP_ASSIGN_OR_RETURN(
      const auto engine,
      Engine::Create({.policy = folder, .threads = facts.threads, .live = 64}));
  std::string card = absl::StrFormat(
      "# %s\n\n"
      "A LlamaForCausalLM of %.2f M parameters with two reward heads "
      "(`reward_head.weight`: this step is right; all steps so far are), "
      "trained by `espalier-learn zoo --family %s --seed %d` from "
      "nothing.\n\n"
      "- Data: %s.\n"
      "- Seed %d, %d threads.\n"
      "- Licence: Apache-2.0, as the rest of Espalier.\n\n"
      "| stage | steps | tokens | seconds |\n|---|---|---|---|\n",
      std::string(family.name()), static_cast<double>(facts.parameters) * 1e-6,
      std::string(family.name()), facts.seed, std::string(family.data()),
      facts.seed, facts.threads);
  for (const ZooReport::Stage& stage : facts.stages) {
    absl::StrAppendFormat(&card, "| %s | %d | %.1f M | %.0f |\n", stage.name,
                          stage.steps, static_cast<double>(stage.tokens) * 1e-6,
                          stage.seconds);
  }
  absl::StrAppendFormat(
      &card,
      "\nMeasured on %d unseen problems a set (seed %d), per cent with 95 %% "
      "Wilson intervals. Next steps are sampled at temperature 1 from prefixes "
      "that are right so far; AUC is the reward heads' on those samples, the "
      "model's own first errors against its right steps.\n\n"
      "| set | greedy | next step right | one of %d right | AUC path | AUC "
      "step |\n|---|---|---|---|---|---|\n",
      problems, kFirstTestSeed, kBranch);
  Progress progress("measure " + std::string(family.name()),
                    static_cast<int64_t>(family.card_sets().size()), "sets");
  for (const std::string& set : family.card_sets()) {
    ESP_ASSIGN_OR_RETURN(const std::string row,
                         MeasureSet(*engine, set, *task, *verifier, problems));
    card += row;
    progress.Add(1);
  }
  progress.Finish();
  return WriteFileAtomic(folder + "/README.md", card);
}

}  // namespace espalier
