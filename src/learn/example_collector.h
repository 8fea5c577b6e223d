// Builds groups of training sequences token by token, and keeps those that fit
// the context and have something to learn.
//
//   collector.Begin(prompt);
//   collector.Add(step, /*counts=*/false);
//   collector.Label(Level::kStep, 1);
//   collector.EndGroup("run.db countdown:3/1/0");
//   TrainData data = collector.Take();
//
// Thread-compatible.
#ifndef ESPALIER_SRC_LEARN_EXAMPLE_COLLECTOR_H_
#define ESPALIER_SRC_LEARN_EXAMPLE_COLLECTOR_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "models/tokenizer/tokenizer.h"
#include "src/learn/train_data.h"
#include "src/trace/labels/examples.h"
#include "src/trace/labels/solution_labels.h"

namespace espalier {

// The name of the filter that drops groups without anything to learn.
inline constexpr char kTeachesFilter[] = "with something to learn";

class ExampleCollector {
 public:
  // All outlive the collector. `end_token` < 0: the model has none.
  ExampleCollector(const TrainDataOptions& options, const Tokenizer& tokenizer,
                   int32_t end_token, FilterLog& log)
      : options_(options),
        tokenizer_(tokenizer),
        end_token_(end_token),
        log_(log) {}

  const Tokenizer& tokenizer() const { return tokenizer_; }

  // Starts a sequence of the group.
  void Begin(absl::Span<const int32_t> prompt, float advantage = 0);
  // Appends tokens; `value` labels the path at the last one, unless it is NaN.
  void Add(absl::Span<const int32_t> tokens, bool counts,
           float value = StepScores::kNone);
  // Labels the last token that was added, unless the label is NaN.
  void Label(Level level, float value);
  // The labels of the levels that are to be trained.
  void Label(const LevelLabels& labels);
  // Appends the end token, if the last token counts and is not one already.
  void EndResponse();
  // Log-probs of the last `logprobs.size()` tokens under the sampling policy.
  void OldLogprobs(absl::Span<const float> logprobs);
  // Of the last tokens, in place of the response's; none: that one.
  void Advantages(absl::Span<const float> advantages);
  void Outcome(bool right) { group_.back().outcome = right ? 1 : 0; }
  // `name`: the source of the group, for messages.
  void EndGroup(std::string name);
  // Drops the unfinished group.
  void DropGroup() { group_.clear(); }

  TrainData Take();

 private:
  // One per token of the last sequence: 0, and `values` at the end.
  std::vector<float> AtEnd(absl::Span<const float> values) const;

  const TrainDataOptions& options_;
  const Tokenizer& tokenizer_;
  const int32_t end_token_;
  FilterLog& log_;
  SequenceGroup group_;
  std::vector<int32_t> prompt_;
  std::map<std::vector<int32_t>, int> problems_;
  TrainData data_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_EXAMPLE_COLLECTOR_H_
