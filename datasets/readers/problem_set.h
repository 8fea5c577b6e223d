// Problem sets by name or file.
//
//   LoadSet("stories:hard", {.limit = 100})
//   LoadSet("gsm8k_test.jsonl", {})
//
// Names: stories:easy|middle|hard, countdown:3|4|5.
// A file holds a JSON object a line with "question" and "answer", as plain
// sets and GSM8K do; a GSM8K answer counts from its "#### " on.
#ifndef ESPALIER_DATASETS_READERS_PROBLEM_SET_H_
#define ESPALIER_DATASETS_READERS_PROBLEM_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/problem.h"

namespace espalier {

struct SetOptions {
  int64_t limit = 0;     // problems at most; 0: 200 of a generated set, all of
                         // a file
  uint64_t seed = 2000;  // of generated sets; from 2000 on for tests
  int64_t first = 0;     // index of the first problem
};

struct ProblemSet {
  std::string name;
  std::string task;  // registered task that renders and grades it
  std::vector<GradedProblem> problems;
};

// NotFound names the nearest set; InvalidArgument names file, line and what was
// expected there.
absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options);

// Parses lines of a question file; `file` is named in errors.
absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file);

// Names of the generated sets.
std::vector<std::string> SetNames();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_READERS_PROBLEM_SET_H_
