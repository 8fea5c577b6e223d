#include "src/trace/labels/reference_of.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "datasets/sets/problem_set.h"

namespace espalier {

Reference ReferenceOf(const GradedProblem& graded) {
  const std::vector<std::string> parts = absl::StrSplit(graded.problem.id, '/');
  SetOptions options{.limit = 1};
  if (!graded.reference.steps.empty() || parts.size() != 3 ||
      !absl::SimpleAtoi(parts[1], &options.seed) ||
      !absl::SimpleAtoi(parts[2], &options.first)) {
    return graded.reference;
  }
  const auto set = LoadSet(parts[0], options);
  const bool same =
      set.ok() && set->problems.size() == 1 &&
      set->problems[0].problem.question == graded.problem.question;
  return same ? set->problems[0].reference : graded.reference;
}

}  // namespace espalier
