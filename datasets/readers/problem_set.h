// Problem sets by name or file.
//
//   LoadSet("stories:hard", {.limit = 100})
//   LoadSet("gsm8k_test.jsonl", {.shuffle = 7, .limit = 100})
//
// Names: those of generated sets (datasets/generators/generated_sets.h), as
// stories:hard or countdown:4. Files: as their publishers ship them
// (set_reader.h), or a folder of them.
#ifndef ESPALIER_DATASETS_READERS_PROBLEM_SET_H_
#define ESPALIER_DATASETS_READERS_PROBLEM_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/readers/set_reader.h"
#include "espalier/problem.h"

namespace espalier {

struct ProblemSet {
  std::string name;
  std::string task;  // registered task that renders and grades it
  std::vector<GradedProblem> problems;
  // What a user should know of the reading: records passed over, ids that are
  // not there. Empty where all went well.
  std::vector<std::string> notes;
};

// NotFound names the nearest set; InvalidArgument names file, line and what was
// expected there.
absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options);

// Parses lines of a question file; `file` is named in errors. Strict.
absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file);

// `record` as a problem: an answer that is a number in canonical form, another
// as it stands; its further columns under Reference::fields.
GradedProblem ToProblem(SetRecord record, const std::string& set);

// Names of the generated sets.
std::vector<std::string> SetNames();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_READERS_PROBLEM_SET_H_
