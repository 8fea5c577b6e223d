#include "datasets/tasks/broken_golds.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "datasets/tasks/python_task.h"

namespace espalier {

absl::StatusOr<std::vector<std::string>> WhyGoldsAreBroken(
    const Verifier& verifier, absl::Span<const GradedProblem> problems) {
  if (&verifier == &PythonVerifier()) return WhyHiddenTestsCannotRun(problems);
  return std::vector<std::string>(problems.size());
}

absl::StatusOr<std::string> BrokenGoldsNote(const std::string& set, int64_t all,
                                            int64_t broken,
                                            const std::string& first,
                                            const std::string& why) {
  if (broken == 0) return std::string();
  if (broken == all) {
    return absl::InvalidArgumentError(absl::StrCat(
        set, ": the tests of no record can judge a program; those of ", first,
        ": ", why, "; correct the file or name its columns (--columns)"));
  }
  return absl::StrCat(
      set, ": the tests of ", broken, " of ", all,
      " records cannot judge a program, and these are left out; "
      "the first is ",
      first, ": ", why);
}

}  // namespace espalier
