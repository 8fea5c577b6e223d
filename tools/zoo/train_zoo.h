// Trains the shipped models in resumable stages.
//
//   tokenizer   byte-level BPE over prompts and solutions
//   grow        policy and reward heads together, on generated solutions and
//               solutions with planted errors, easy problems first
//   judge       rounds of: the model's own sampled responses, judged line by
//               line by the exact verifier, join the planted errors
//
// Each stage writes its state below `work`; a second run continues where the
// first stopped. The result is a Hugging Face folder.
#ifndef ESPALIER_TOOLS_ZOO_TRAIN_ZOO_H_
#define ESPALIER_TOOLS_ZOO_TRAIN_ZOO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/zoo/zoo_family.h"

namespace espalier {

// A value of 0 or below means the family's own (zoo_family.h).
struct ZooOptions {
  std::string family = "stories";
  std::string out;   // checkpoint folder
  std::string work;  // state of the stages
  uint64_t seed = 1;
  int threads = 2;
  int64_t grow_steps = -1;
  int64_t judge_steps = -1;
  int judge_rounds = -1;       // each samples new responses of the model
  int own_responses = -1;      // per round
  int batch_tokens = -1;       // per optimiser step
  double judge_lm_coef = 1.0;  // weight of imitation while heads are trained
  double learning_rate = -1;
  int hidden_size = -1;
  int layers = -1;
};

// A summary of the training, for the model card.
struct ZooReport {
  struct Stage {
    std::string name;
    int64_t steps = 0;
    int64_t tokens = 0;
    double seconds = 0;  // of optimiser steps, over all runs
  };
  const ZooFamily* family = nullptr;
  uint64_t seed = 0;
  int threads = 0;
  int64_t parameters = 0;
  std::vector<Stage> stages;
};

// Runs all stages. Metrics of every tenth step go to `work`/metrics.jsonl.
absl::StatusOr<ZooReport> TrainZooModel(const ZooOptions& options);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ZOO_TRAIN_ZOO_H_
