// Trains a checkpoint on data for some epochs; can be killed at any moment.
//
//   ESP_ASSIGN_OR_RETURN(TrainReport report,
//                        TrainModel({.model = "models/zoo/countdown-base",
//                                    .data = "run.db", .out = "better"}, {}));
//
// Files in `work`: config.json (what determines the result), state.bin
// (weights, moments, step; replaced atomically), metrics.jsonl (one line per
// step: loss, entropy of the policy at the tokens it learns, and the rest of
// ObjectiveMetrics; with `held_out` also the figures of held-out problems at
// the end of each epoch; `espalier report` plots it). A second call with the
// same settings resumes from the state and ends with the same weights and
// losses, bit for bit (or finds the work done, in report.json); one with other
// settings is refused. The result is a Hugging Face folder, written atomically;
// with `lora` it holds W0 + s B A, and A and B are in its adapter/. With
// `held_out` it holds the state with the lowest loss on the held-out problems
// (best.bin), and `patience` ends the training once that loss has not fallen
// for so long.
#ifndef ESPALIER_SRC_LEARN_TRAIN_RUN_H_
#define ESPALIER_SRC_LEARN_TRAIN_RUN_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "src/learn/held_out.h"
#include "src/learn/lora.h"
#include "src/learn/self_reward.h"
#include "src/learn/train_data.h"

namespace espalier {

struct TrainRunOptions {
  std::string model;              // checkpoint folder to start from
  std::string data;               // run database or JSON lines
  std::string out;                // checkpoint folder to write
  std::string work;               // "": out + ".work"
  std::string objective = "sft";  // with its options, e.g. dpo:beta=0.1
  // What a reward model is written as: "espalier", or "trl", a token classifier
  // as of TRL's PRMTrainer (export.h), of one level, step or path. Its labelled
  // steps are laid out as that format is read.
  std::string format = "espalier";
  TrainDataOptions train_data;    // the objective sets its kind
  SelfRewardOptions self_reward;  // objective grpo
  double epochs = 3;
  int batch_tokens = 8192;  // per optimiser step
  double learning_rate = 1e-3;
  double final_rate = 0.1;  // fraction of the rate at the end
  double warmup = 0.05;     // fraction of the steps
  double weight_decay = 0.1;
  double clip_norm = 1;
  // Keeps a problem's sequences together, so that most of them are in one
  // micro-batch, where their common prefix is computed once.
  bool by_problem = true;
  LoraOptions lora;  // reward models also train their head
  // Heads of a reward model, each trained on a bootstrap sample of the problems
  // (Efron 1979: as many, drawn with replacement, from `seed`), so that they
  // agree where the data is plain and differ where it is not. 1: one head that
  // is trained on all problems.
  int ensemble = 1;
  uint64_t seed = 1;  // of the order of sequences and of random initial values
  int threads = 2;
  int64_t save_every = 50;  // steps between states
  // Share of the problems that a reward model is not trained but measured on.
  double held_out = 0;
  // Epochs without a lower loss on them that end the training; 0: none do.
  int patience = 0;
  // Refuses data in which fewer problems have something to learn from.
  int64_t min_problems = 0;
};

struct TrainReport {
  int64_t sequences = 0;  // groups of sequences, for objectives on groups
  int64_t tokens = 0;     // trained on, over all epochs and calls
  int64_t steps = 0;
  double first_loss = 0, last_loss = 0;  // means of first and last tenth
  double seconds = 0;                    // of this call
  // Of the state that was written, if problems were held out.
  std::optional<HeldOutFigures> held_out;
};

// Refuses impossible settings before anything is loaded or written.
absl::Status CheckTrainRun(const TrainRunOptions& options);

// `stop` (may be null) ends the call after a step, with the state saved and the
// status Cancelled. A loss that is NaN or infinite ends it with an error that
// names the step and its sequences; the state before that step is saved.
absl::StatusOr<TrainReport> TrainModel(const TrainRunOptions& options,
                                       const std::atomic<bool>* stop,
                                       FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TRAIN_RUN_H_
