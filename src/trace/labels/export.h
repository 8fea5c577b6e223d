// Training examples as JSON lines with the columns that trainers read.
//
//   sft, plain: prompt, completion (TRL's prompt-completion; OpenRLHF with
//     --input_key prompt --output_key completion)
//   sft, messages: messages: [{role, content}] (TRL's conversational language
//     modeling)
//   pairs, plain: prompt, chosen, rejected (TRL's preference; OpenRLHF's
//     prompt_key, chosen_key, rejected_key)
//   pairs, messages: the same with messages
//   steps, plain: prompt, completions, labels (TRL's stepwise supervision;
//     labels are booleans), values, and scores: the recorded reward model's by
//     level, a list each; null: not scored
//   steps, openrlhf: input with the placeholder after each step, label: one
//     number per step (OpenRLHF's train_prm, --input_key input --label_key
//     label)
//
// Sources: TRL's "Dataset formats and types"; OpenRLHF's SFTDataset,
// RewardDataset and ProcessRewardDataset.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_EXPORT_H_
#define ESPALIER_SRC_TRACE_LABELS_EXPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/task.h"
#include "src/trace/labels/examples.h"

namespace espalier {

// The token after each step in OpenRLHF's scripts.
inline constexpr char kStepPlaceholder[] = "\u043a\u0438";

// One line per example; each run of steps to imitate is one, with the text
// before it as prompt. `task` renders the prompts of all problems.
absl::StatusOr<std::string> PathLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<PathExample>& examples,
                                      const Task& task, bool messages);
absl::StatusOr<std::string> PairLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<PairExample>& examples,
                                      const Task& task, bool messages);
// A step's label is true if its value is above `threshold`.
absl::StatusOr<std::string> StepLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<StepExample>& examples,
                                      const Task& task, bool openrlhf,
                                      float threshold);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_EXPORT_H_
