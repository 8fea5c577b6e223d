// Files of step scores: what one program's reward model said, for another to
// measure.
//
//   {"id": "gsm8k-0", "scores": [0.93, 0.12]}
//
// One line per solution, one score per step; null instead of the list: the
// solution was not judged. Also read are lines as PRMBench's program keeps them
// ("idx", and "scores" with "step_level_validity_scores").
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_STEP_SCORES_H_
#define ESPALIER_TOOLS_ESPALIER_STEP_SCORES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "datasets/sets/step_benchmarks.h"
#include "nlohmann/json_fwd.hpp"
#include "src/eval/step_benchmark.h"

namespace espalier {

// The numbers of a list; `what` is in front of the message of an
// InvalidArgument for anything else.
absl::StatusOr<StepValues> ScoreList(const nlohmann::json& list,
                                     const std::string& what);

// The scores of `solutions`, in their order. Lines of other solutions are
// passed over. InvalidArgument, which names file and line, for a line that is
// not as above, a number of scores that is not that of the steps, and an id
// given twice; and for a solution without a line.
absl::StatusOr<std::vector<StepValues>> ReadStepScores(
    const std::string& path, absl::Span<const BenchSolution> solutions);

// The lines of all solutions.
std::string StepScoreLines(absl::Span<const BenchSolution> solutions,
                           absl::Span<const StepValues> values);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_STEP_SCORES_H_
