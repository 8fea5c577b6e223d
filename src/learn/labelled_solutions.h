// Published solutions with labelled steps as training sequences, tokenised as a
// search would have them.
//
//   ESP_RETURN_IF_ERROR(AddSolutions("gsm8k.json", options, log, collector));
//
// Two ways to lay out a path, each the one by which a search reads the model
// that is trained:
//  * Espalier's own heads: the question in the task's or the named prompt, with
//    the begin token and the control tokens that it has; each step as a
//    continuation, ended by the task's delimiter; read at its last token
//    (SolutionScorer);
//  * a published format (TrainDataOptions::layout): StepLayout.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_LEARN_LABELLED_SOLUTIONS_H_
#define ESPALIER_SRC_LEARN_LABELLED_SOLUTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "models/reward/step_layout.h"
#include "src/learn/example_collector.h"
#include "src/learn/train_data.h"
#include "src/trace/labels/examples.h"
#include "src/trace/labels/solution_labels.h"

namespace espalier {

// Adds the solutions of a file or folder. Records that cannot be read, and
// solutions that cannot be laid out, are left out and counted in `log`. Errors
// as from StepSetReader.
absl::Status AddSolutions(const std::string& path,
                          const TrainDataOptions& options, FilterLog& log,
                          ExampleCollector& collector);

// Begins a sequence and adds the path of these steps in a published layout, up
// to the last step with a label. Steps of white space are left out. Errors as
// from StepLayout::Lay; then nothing is added.
absl::Status AddLaidOut(const StepLayout& layout, const std::string& question,
                        absl::Span<const std::string> steps,
                        absl::Span<const LevelLabels> labels,
                        ExampleCollector& collector);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_LABELLED_SOLUTIONS_H_
