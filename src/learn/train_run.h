// Trains a checkpoint on data, in epochs, and may be killed at any moment.
//
//   ESP_ASSIGN_OR_RETURN(TrainReport report,
//                        TrainModel({.model = "models/zoo/countdown-base",
//                                    .data = "run.db", .out = "better"}, {}));
//
// Below `work`: config.json (what decides the result), state.bin (weights,
// moments, step; replaced atomically), metrics.jsonl (a line a step: loss,
// entropy of the policy at the tokens it learns, and what else is in
// ObjectiveMetrics; `espalier report` draws it). A second call with the same
// settings goes on from the state and ends with the same weights and losses,
// bit for bit (or finds the work done, in report.json); one with other settings
// is refused. The result is a Hugging Face folder, which appears whole; with
// `lora` it holds W0 + s B A, and A and B are in its adapter/.
#ifndef ESPALIER_SRC_LEARN_TRAIN_RUN_H_
#define ESPALIER_SRC_LEARN_TRAIN_RUN_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "src/learn/lora.h"
#include "src/learn/train_data.h"

namespace espalier {

struct TrainRunOptions {
  std::string model;              // checkpoint folder to begin from
  std::string data;               // run database or JSON lines
  std::string out;                // checkpoint folder to write
  std::string work;               // "": out + ".work"
  std::string objective = "sft";  // with its options, as dpo:beta=0.1
  TrainDataOptions train_data;    // its kind is the objective's
  double epochs = 3;
  int batch_tokens = 8192;  // of an optimiser step
  double learning_rate = 1e-3;
  double final_rate = 0.1;  // share of it at the end
  double warmup = 0.05;     // share of the steps
  double weight_decay = 0.1;
  double clip_norm = 1;
  // A problem's sequences follow each other, so that most of them meet in a
  // micro-batch, where what they share is computed once.
  bool by_problem = true;
  LoraOptions lora;   // reward models train their head besides
  uint64_t seed = 1;  // of the order of sequences, of what begins random
  int threads = 2;
  int64_t save_every = 50;  // steps between states
  // Data with something to learn from fewer problems are refused.
  int64_t min_problems = 0;
};

struct TrainReport {
  int64_t sequences = 0;  // groups of them, for objectives of groups
  int64_t tokens = 0;     // trained on, over all epochs and calls
  int64_t steps = 0;
  double first_loss = 0, last_loss = 0;  // means of the first and last tenth
  double seconds = 0;                    // of this call
};

// Refuses impossible settings before anything is loaded or written.
absl::Status CheckTrainRun(const TrainRunOptions& options);

// `stop` (may be null) ends the call after a step, with the state saved and a
// status of Cancelled. A loss that is not a number ends it with the step and
// its sequences named; the state before that step is saved.
absl::StatusOr<TrainReport> TrainModel(const TrainRunOptions& options,
                                       const std::atomic<bool>* stop,
                                       FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TRAIN_RUN_H_
