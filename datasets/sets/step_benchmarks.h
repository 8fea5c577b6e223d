// Benchmarks of reward models: solutions whose wrong steps are known.
//
//   ESP_ASSIGN_OR_RETURN(auto solutions, ReadFirstErrors({"gsm8k.json"}));
//   ESP_ASSIGN_OR_RETURN(auto items, ReadPrmBench("prmbench/data"));
//
// A benchmark is measured as a whole: the first bad record is an error, which
// names file and line. Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_STEP_BENCHMARKS_H_
#define ESPALIER_DATASETS_SETS_STEP_BENCHMARKS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

struct BenchSolution {
  std::string id;     // unique in its benchmark
  std::string group;  // ProcessBench's subset, PRMBench's class of error
  std::string place;  // "file:line"
  std::string problem;
  std::vector<std::string> steps;
  // Indexes of wrong steps, ascending. ProcessBench: the first one only.
  // PRMBench names steps after the last one, too; these stay.
  std::vector<int> errors;
  // PRMBench: what a changed solution and its original have in common.
  std::string pair;

  int first_error() const { return errors.empty() ? -1 : errors[0]; }
};

// The subsets of ProcessBench, in its order.
inline constexpr std::array<std::string_view, 4> kProcessBenchSubsets = {
    "gsm8k", "math", "olympiadbench", "omnimath"};

// Files or folders of ProcessBench. A solution's subset is what its id begins
// with ("gsm8k-17"), else the name of its file. Files of PRM800K and
// Math-Shepherd are read, too: a neutral step is no error, and a solution
// without an error ends before the first step without a label.
// InvalidArgument for a file without solutions and for an id given twice.
absl::StatusOr<std::vector<BenchSolution>> ReadFirstErrors(
    const std::vector<std::string>& paths);

// The class of PRMBench's unchanged solutions.
inline constexpr std::string_view kUnchanged = "correct";

// A file or folder of PRMBench (columns idx, modified_question,
// modified_process, error_steps from 1, classification). As in its authors'
// program (mr_eval/tasks/prmtest_classified/task.py), each record of the class
// "redundency", spelt so, also gives its original solution as one of the class
// "correct"; ids are CLASS_IDX, and of records with one id the first is read.
absl::StatusOr<std::vector<BenchSolution>> ReadPrmBench(
    const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_STEP_BENCHMARKS_H_
