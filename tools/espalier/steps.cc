// espalier steps: what a step-level search rests on, for a model and a set.
#include <cstdio>

#include "datasets/readers/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "src/base/files.h"
#include "src/base/json_text.h"
#include "src/base/progress.h"
#include "src/base/status_macros.h"
#include "src/eval/step_report.h"
#include "tools/espalier/command.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

struct StepsFlags {
  ModelFlags models;
  SetFlags set;
  StepReportOptions report;
  std::string json_file;
};

absl::Status RunSteps(StepsFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(flags.set));
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(set.task));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(set.task));
  ESP_ASSIGN_OR_RETURN(const EngineOptions models,
                       ResolveModels(flags.models, set.task));
  ESP_ASSIGN_OR_RETURN(const auto engine, Engine::Create(models));
  Progress progress("steps " + set.name,
                    static_cast<int64_t>(set.problems.size()), "problems");
  flags.report.stop = &StopRequested();
  flags.report.progress = [&](int64_t) { progress.Add(1); };
  ESP_ASSIGN_OR_RETURN(
      const StepReport report,
      MakeStepReport(*engine, set.problems, *task, *verifier, flags.report));
  progress.Finish();
  std::printf("%s, model %s\n%s", set.name.c_str(), models.policy.c_str(),
              StepReportText(report, flags.report.branch).c_str());
  for (const std::string& example : report.examples) {
    std::printf("  wrong: %s\n", example.c_str());
  }
  if (!flags.json_file.empty()) {
    ESP_RETURN_IF_ERROR(WriteFileAtomic(
        flags.json_file, JsonText(StepReportJson(report), 1) + "\n"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSteps(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<StepsFlags>();
  AddSetFlags(app, flags->set)->required();
  app.add_option("--branch", flags->report.branch, "Samples of each next step")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--temperature", flags->report.temperature, "Of sampling")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0));
  app.add_option("--seed", flags->report.seed, "Search seed")
      ->capture_default_str();
  app.add_option("--examples", flags->report.examples, "Wrong steps to print")
      ->capture_default_str();
  app.add_option("--json", flags->json_file, "Write the report to this file");
  AddModelFlags(app, flags->models);
  run = [flags] { return RunSteps(*flags); };
}

}  // namespace espalier
