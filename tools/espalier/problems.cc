// espalier problems: prints problems of a set.
#include <cstdio>

#include "datasets/readers/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "src/base/status_macros.h"
#include "tools/espalier/command.h"

namespace espalier {
namespace {

struct ProblemsFlags {
  std::string set = "stories:middle";
  SetOptions options{.limit = 3};
  bool answers = false;
  bool json = false;
};

absl::Status RunProblems(const ProblemsFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(flags.set, flags.options));
  for (const GradedProblem& graded : set.problems) {
    if (flags.json) {
      const nlohmann::json row = {{"id", graded.problem.id},
                                  {"question", graded.problem.question},
                                  {"answer", graded.reference.answer},
                                  {"steps", graded.reference.steps}};
      std::printf("%s\n", row.dump().c_str());
      continue;
    }
    std::printf("%s\n%s\n", graded.problem.id.c_str(),
                graded.problem.question.c_str());
    if (flags.answers) {
      for (const std::string& step : graded.reference.steps) {
        std::printf("  %s\n", step.c_str());
      }
      if (graded.reference.steps.empty()) {
        std::printf("  answer %s\n", graded.reference.answer.c_str());
      }
    }
    std::printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

void AddProblems(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ProblemsFlags>();
  app.add_option("--set", flags->set,
                 "stories:easy|middle|hard, countdown:3|4|5, or a JSONL file")
      ->capture_default_str();
  app.add_option("--limit", flags->options.limit, "Problems at most")
      ->capture_default_str();
  app.add_option("--first", flags->options.first, "Index of the first")
      ->capture_default_str();
  app.add_option("--set-seed", flags->options.seed, "Seed of generated sets")
      ->capture_default_str();
  app.add_flag("--answers", flags->answers, "Print reference solutions too");
  app.add_flag("--json", flags->json, "One JSON object a line");
  run = [flags] { return RunProblems(*flags); };
}

}  // namespace espalier
