// Files of problems whose answer is a program: JSON lines, plain or gzipped.
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_CODE_CODE_FILES_H_
#define ESPALIER_DATASETS_CODE_CODE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/code/code_problem.h"
#include "nlohmann/json.hpp"

namespace espalier {

// A line of a file, as JSON.
struct JsonLine {
  std::string place;  // "file:line"
  nlohmann::json fields;
};

// Every line that is not blank. One that is no JSON object is left out, and
// said in `errors` with file and line.
absl::StatusOr<std::vector<JsonLine>> ReadJsonLines(
    const std::string& path, std::vector<std::string>& errors);

// InvalidArgument names file and line, and what was expected there: a problem
// that cannot be read would change every figure over the set.
absl::StatusOr<std::vector<CodeProblem>> ReadCodeProblems(
    const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_CODE_CODE_FILES_H_
