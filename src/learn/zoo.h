// Trains the shipped models from nothing, in resumable stages.
//
//   tokenizer   byte-level BPE over prompts and solutions
//   grow        policy and reward heads together, on reference solutions and
//               solutions with planted errors, easy problems first
//   judge       rounds of: the model's own sampled responses, judged line by
//               line by the exact verifier, join the planted errors
//
// Each stage writes its state below `work`; a second run continues where the
// first stopped. The result is a Hugging Face folder.
#ifndef ESPALIER_SRC_LEARN_ZOO_H_
#define ESPALIER_SRC_LEARN_ZOO_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace espalier {

struct ZooOptions {
  std::string family = "stories";
  std::string out;   // checkpoint folder
  std::string work;  // state of the stages
  uint64_t seed = 1;
  int threads = 2;
  int64_t grow_steps = 1500;
  int64_t judge_steps = 700;
  int judge_rounds = 2;        // own responses are sampled anew in each
  int own_responses = 6000;    // of each round
  int batch_tokens = 16384;    // of an optimiser step
  double judge_lm_coef = 1.0;  // weight of imitation while judging is learned
  double learning_rate = 3e-3;
  int hidden_size = 128;
  int layers = 6;
};

// Runs all stages. Metrics of every tenth step go to `work`/metrics.jsonl.
absl::Status TrainZooModel(const ZooOptions& options);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_ZOO_H_
