// Files of problems whose answer is a program.
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_CODE_FILES_H_
#define ESPALIER_DATASETS_SETS_CODE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/programs/code_problem.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_reader.h"

namespace espalier {

// All records of a file that RecordReader reads. Bad ones are skipped and
// reported in `errors` with file and line.
absl::StatusOr<std::vector<Record>> ReadRecords(
    const std::string& path, std::vector<std::string>& errors);

// The problems of a set whose task is "python" (set_kind.h). InvalidArgument
// names file and line, and what was expected there. If `report` is given and
// options.strict is not set, bad problems are skipped, counted and reported in
// it; metrics over the set then cover fewer problems.
absl::StatusOr<std::vector<CodeProblem>> ReadCodeProblems(
    const std::string& path, SetOptions options = {},
    ReadReport* report = nullptr);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_CODE_FILES_H_
