// Problem sets by name or file.
//
//   LoadSet("stories:hard", {.limit = 100})
//   LoadSet("gsm8k_test.jsonl", {.shuffle = 7, .limit = 100})
//
// Names: those of generated sets (datasets/tasks/generated_sets.h), such as
// stories:hard or countdown:4. Files: in their publishers' formats
// (set_reader.h), or a folder of them.
#ifndef ESPALIER_DATASETS_SETS_PROBLEM_SET_H_
#define ESPALIER_DATASETS_SETS_PROBLEM_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "datasets/sets/set_reader.h"
#include "espalier/problem.h"
#include "espalier/registry.h"
#include "espalier/verifier.h"

namespace espalier {

struct ProblemSet {
  std::string name;
  std::string task;  // registered task that renders and grades it
  std::vector<GradedProblem> problems;
  std::string gold;  // where gold answers were looked for, "\"answer\""
  // Notes for the user about reading the set: skipped records, ids that were
  // not found. Empty if all went well.
  std::vector<std::string> notes;
};

// The problems without their references: what a search may see.
std::vector<Problem> ProblemsOf(absl::Span<const GradedProblem> graded);

// NotFound names the nearest set; InvalidArgument names file, line and what was
// expected there.
absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options);

// Removes the problems that `verifier` cannot judge because their records give
// no gold answer, or one that is broken (broken_golds.h); returns a note about
// that for the user, "" if none was removed. InvalidArgument, with the places
// where the answers were expected or what is wrong with them, if it can judge
// none.
absl::StatusOr<std::string> KeepJudged(const Verifier& verifier,
                                       ProblemSet& set);

// Parses lines of a question file; `file` is used in error messages. Strict.
absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file);

// `record` as a problem: a numeric answer in canonical form, any other answer
// unchanged; its further columns under Reference::fields.
GradedProblem ToProblem(SetRecord record, const std::string& set);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_PROBLEM_SET_H_
