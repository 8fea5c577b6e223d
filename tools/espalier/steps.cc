// espalier steps: measures what step-level search depends on, for a model and a
// set; or the contents of a file of solutions with labelled steps.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "nlohmann/json.hpp"
#include "src/eval/step_report.h"
#include "tools/espalier/command.h"
#include "tools/espalier/labelled_report.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

struct StepsFlags {
  ModelFlags models;
  SetFlags set;
  StepReportOptions report;
  JsonOutput json;
  std::string out;
};

// ProcessBench, PRM800K, Math-Shepherd: no model is used.
absl::Status RunLabelled(const StepsFlags& flags) {
  ESP_ASSIGN_OR_RETURN(
      const auto reader,
      StepSetReader::Open(flags.set.set, {.limit = flags.set.options.limit,
                                          .strict = flags.set.options.strict}));
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask("qa"));
  std::string lines;
  ESP_ASSIGN_OR_RETURN(
      const LabelledReport report,
      ReadLabelled(*reader, *task, flags.out.empty() ? nullptr : &lines));
  std::fprintf(flags.json.report(), "%s",
               Printable(LabelledText(report)).c_str());
  for (const std::string& note : reader->report().Notes()) {
    std::fprintf(stderr, "%s\n", Printable(note).c_str());
  }
  if (!flags.out.empty()) {
    ESP_RETURN_IF_ERROR(WriteOutput(flags.out, lines));
  }
  return flags.json.Write(LabelledJson(report));
}

absl::Status RunSteps(StepsFlags& flags) {
  const bool labelled = HoldsLabelledSteps(flags.set.set);
  FlagErrors errors;
  errors.AddAsIs(flags.json.Check());
  if (!flags.out.empty() && !labelled) {
    errors.Add(absl::StrCat("--out ", flags.out,
                            ": is only for solutions with labelled steps, but ",
                            flags.set.set, " has none"));
  } else if (!flags.out.empty()) {
    errors.AddAsIs(CheckOutputFile(flags.out, flags.json.force));
  }
  errors.AddAsIs(CheckRewardFormat(flags.models));
  ESP_RETURN_IF_ERROR(errors.Status());
  if (labelled) return RunLabelled(flags);
  ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(flags.set));
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(set.task));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(set.task));
  ESP_ASSIGN_OR_RETURN(const ResolvedModels models,
                       ResolveModels(flags.models, set.task));
  ESP_ASSIGN_OR_RETURN(const auto engine, models.Load());
  Progress progress("steps " + Printable(set.name),
                    static_cast<int64_t>(set.problems.size()), "problems");
  flags.report.stop = &StopRequested();
  flags.report.progress = [&](int64_t) { progress.Add(1); };
  ESP_ASSIGN_OR_RETURN(
      const StepReport report,
      MakeStepReport(*engine, set.problems, *task, *verifier, flags.report));
  progress.Finish();
  std::FILE* const out = flags.json.report();
  std::fprintf(out, "%s, model %s\n%s", Printable(set.name).c_str(),
               Printable(models.policy()).c_str(),
               StepReportText(report, flags.report.branch).c_str());
  for (const std::string& example : report.examples) {
    std::fprintf(out, "  wrong: %s\n", Printable(example).c_str());
  }
  nlohmann::json json = StepReportJson(report);
  json["complete"] = !StopRequested().load();
  ESP_RETURN_IF_ERROR(flags.json.Write(json));
  if (StopRequested().load()) {
    return absl::CancelledError(
        absl::StrCat("stopped; the figures above cover ", report.problems,
                     " of ", set.problems.size(), " problems"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSteps(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<StepsFlags>();
  AddSetFlags(app, flags->set)->required();
  app.footer(
      "A file of ProcessBench, PRM800K or Math-Shepherd, or of TRL's stepwise "
      "lines, is recognised by its columns: its labels are counted, and --out "
      "writes them as lines. train reward also reads such files as they are.");
  app.add_option("--out", flags->out,
                 "For a file with labelled steps: write them as lines that "
                 "train reward reads, prompted as in the task qa");
  app.add_option("--branch", flags->report.branch, "Samples of each next step")
      ->capture_default_str()
      ->check(WholeFrom(1, 1024));
  app.add_option("--temperature", flags->report.temperature,
                 "Sampling temperature")
      ->capture_default_str()
      ->check(RealFrom(0, 10));
  app.add_option("--seed", flags->report.seed, "Search seed")
      ->capture_default_str();
  app.add_option("--examples", flags->report.examples,
                 "Number of wrong steps to print")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  AddJsonOutput(app, flags->json, "the report");
  AddModelFlags(app, flags->models);
  run = [flags] { return RunSteps(*flags); };
}

}  // namespace espalier
