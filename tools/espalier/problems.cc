// espalier problems: prints problems of a set.
#include <cstdio>

#include "base/json_text.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "nlohmann/json.hpp"
#include "tools/espalier/command.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

struct ProblemsFlags {
  SetFlags set{.set = "stories:middle", .options = {.limit = 3}};
  bool answers = false;
  JsonOutput json;
};

absl::Status RunProblems(ProblemsFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(flags.set));
  ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
  for (const GradedProblem& graded : set.problems) {
    if (flags.json.wanted()) {
      nlohmann::json row = {{"id", graded.problem.id},
                            {"question", graded.problem.question},
                            {"answer", graded.reference.answer},
                            {"steps", graded.reference.steps}};
      if (!graded.reference.fields.empty()) {
        row["fields"] = graded.reference.fields;
      }
      std::printf("%s\n", JsonText(row).c_str());
      continue;
    }
    std::printf("%s\n%s\n", Printable(graded.problem.id).c_str(),
                Printable(graded.problem.question).c_str());
    if (flags.answers) {
      for (const std::string& step : graded.reference.steps) {
        std::printf("  %s\n", Printable(step).c_str());
      }
      if (graded.reference.steps.empty()) {
        std::printf("  answer %s\n",
                    Printable(graded.reference.answer).c_str());
      }
    }
    std::printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

void AddProblems(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ProblemsFlags>();
  AddSetFlags(app, flags->set);
  app.add_flag("--answers", flags->answers, "Also print reference solutions");
  AddJsonOutput(app, flags->json, "one object per problem");
  run = [flags] { return RunProblems(*flags); };
}

}  // namespace espalier
