// Methods, tasks and problem sets by name.
//
//   const Task* task = FindTask("stories").value();
//   LoadedProblems set = LoadProblems("stories:hard", {.limit = 20}).value();
#ifndef ESPALIER_API_REGISTRY_H_
#define ESPALIER_API_REGISTRY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/method_options.h"
#include "espalier/problem.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

struct MethodSummary {
  std::string name;
  std::string summary;
  std::string source;               // the paper or project; "" for none
  std::string when_to_use;          // continues "use it when"
  bool scores = false;              // needs a reward model
  bool verifies = false;            // needs an intrinsic verifier
  bool grades = false;              // needs the reference: training data only
  std::vector<OptionInfo> options;  // with their defaults
};
// Sorted by name.
std::vector<MethodSummary> ListMethods();

// NotFound with the nearest name for an unknown one.
absl::StatusOr<const Task*> FindTask(std::string_view name);
// The verifier of the task of this name.
absl::StatusOr<const Verifier*> FindVerifier(std::string_view task);
std::vector<std::string> TaskNames();  // sorted

struct ProblemChoice {
  int64_t limit = 0;     // 0: 200 of a generated set, all of a file
  int64_t first = 0;     // index of the first problem
  uint64_t seed = 2000;  // of generated sets; from 2000 on for tests
};
struct LoadedProblems {
  std::string task;  // that renders and grades them
  std::vector<GradedProblem> problems;
};
// `spec` is a generated set ("countdown:4") or a file as its publisher ships
// it. NotFound names the nearest set; InvalidArgument names file and line.
absl::StatusOr<LoadedProblems> LoadProblems(const std::string& spec,
                                            const ProblemChoice& choice = {});
std::vector<std::string> SetNames();  // of generated sets

}  // namespace espalier

#endif  // ESPALIER_API_REGISTRY_H_
