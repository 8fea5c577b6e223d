// How well step scores find wrong steps, by the protocols of ProcessBench and
// PRMBench.
//
//   const ProcessBenchReport report =
//       MeasureProcessBench(solutions, values, 0.5);
//   report.mean_f1;
//
// A step is judged right if its value is above the threshold.
//
// ProcessBench (Zheng et al. 2024, arXiv:2412.06559; code/run_eval.py): the
// prediction is the first step judged wrong, or none; F1 is the harmonic mean
// of the accuracies on solutions with an error and on those without one.
//
// PRMBench (Song et al. 2025, arXiv:2501.03124;
// mr_eval/tasks/prmtest_classified/task.py, and mr_visualize for the
// PRM-score): every step counts; positive means right. What the published
// program cannot compute it sets to -1, also where a precision of -1 enters F1,
// and so do these functions.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_STEP_BENCHMARK_H_
#define ESPALIER_SRC_EVAL_STEP_BENCHMARK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "datasets/sets/step_benchmarks.h"

namespace espalier {

// One value per step, none of them NaN. Empty: the solution was not judged,
// which is wrong in ProcessBench and left out in PRMBench.
using StepValues = std::vector<double>;

// Index of the first step judged wrong; -1 if none is.
int FirstWrong(absl::Span<const double> values, double threshold);

struct ProcessBenchScore {
  int64_t with_error = 0, error_found = 0;  // predicted at the right step
  int64_t without_error = 0, none_found = 0;

  // In per cent; NaN without solutions of that kind.
  double error_accuracy() const;
  double correct_accuracy() const;
  // NaN if one of them is, 0 if both are 0.
  double f1() const;
};

struct ProcessBenchReport {
  // By subset: ProcessBench's in its order, then others as they come.
  std::vector<std::pair<std::string, ProcessBenchScore>> subsets;
  double mean_f1 = 0;  // over subsets
  int64_t not_judged = 0;
};

// `values`: one entry per solution.
ProcessBenchReport MeasureProcessBench(
    absl::Span<const BenchSolution> solutions,
    absl::Span<const StepValues> values, double threshold);

// A threshold at which F1 over all `solutions` is highest; of several, the one
// nearest to .5: .5 itself or halfway between two values. .5 if F1 is
// undefined.
double TuneProcessBench(absl::Span<const BenchSolution> solutions,
                        absl::Span<const StepValues> values);

struct PrmBenchScore {
  int64_t right_kept = 0, wrong_kept = 0;   // TP, FP: judged right
  int64_t wrong_found = 0, right_lost = 0;  // TN, FN: judged wrong
  // Shares; -1 where there is nothing to share.
  double step_accuracy = -1, right_accuracy = -1, wrong_accuracy = -1;
  double first_error_accuracy = -1;
  // Mean difference between the shares of steps that are judged right in a
  // solution and in its original; the lower, the less the model notices.
  double similarity = -1;
  double f1 = -1, negative_f1 = -1;
  // (F1 + negative F1) / 2, at least 0; of "multi_solutions", which have no
  // errors, F1.
  double prm_score = 0;
};

struct PrmBenchReport {
  PrmBenchScore total;  // of all classes but "correct"
  std::vector<std::pair<std::string, PrmBenchScore>> classes;  // alphabetical
  int64_t not_judged = 0;
};

PrmBenchReport MeasurePrmBench(absl::Span<const BenchSolution> solutions,
                               absl::Span<const StepValues> values,
                               double threshold);

// As TuneProcessBench, for the PRM-score over all solutions with errors.
double TunePrmBench(absl::Span<const BenchSolution> solutions,
                    absl::Span<const StepValues> values);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_STEP_BENCHMARK_H_
