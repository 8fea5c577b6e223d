// Trains a LlamaNet on packed sequences: cross entropy of tokens and binary
// cross entropy of the reward head's two outputs,
//
//   loss = lm_coef * sum(w CE) / sum(w)
//        + reward_coef * (mean BCE(step) + mean BCE(path)),
//
// with AdamW (Loshchilov and Hutter 2019; decay only on matrices), a clipped
// gradient norm, and a learning rate with linear warmup and then a decay.
//
// A step's micro-batches are divided into a fixed number of parts, each with
// its own partial sum of the gradients; threads take parts, so a busy core
// delays one part and not half a step, and the partial sums are added in order.
// The same weights and data give the same weights, bit for bit, with any number
// of threads, also when a run is stopped, saved and resumed.
//
//   Trainer trainer(*net, {.learning_rate = 3e-3, .total_steps = 2000});
//   ESP_ASSIGN_OR_RETURN(StepMetrics m, trainer.Step(batch));
//   ESP_RETURN_IF_ERROR(trainer.Save("zoo/stories/state.bin"));
//
// Trains all weights, or the given Trainable (src/learn/lora.h).
//
// Externally synchronised; it manages its own threads.
#ifndef ESPALIER_SRC_LEARN_TRAINER_H_
#define ESPALIER_SRC_LEARN_TRAINER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/objective.h"
#include "src/learn/packer.h"
#include "src/learn/trainable.h"

namespace espalier {

enum class RateSchedule { kCosine, kLinear, kConstant };

struct TrainerOptions {
  double learning_rate = 3e-3;
  // The rate falls to this fraction of learning_rate at total_steps.
  double final_rate = 0.1;
  RateSchedule schedule = RateSchedule::kCosine;
  int64_t warmup_steps = 100;
  int64_t total_steps = 1000;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
  double clip_norm = 1.0;  // 0: no clipping
  double lm_coef = 1.0;
  double reward_coef = 1.0;
  int threads = 2;
  // Number of partial gradient sums; more than threads, for balance. Another
  // number rounds differently.
  int partial_sums = 4;
  // Tokens per micro-batch: enough to fill the kernels' chunks, few enough that
  // activations stay in the last-level cache.
  int micro_batch_tokens = 1024;
  // In steps by an objective: computes a common prefix of a micro-batch's
  // sequences once (src/learn/tree_packer.h).
  bool share_prefixes = true;
};

struct StepMetrics {
  int64_t step = 0;     // steps done, including this one
  double lm_loss = 0;   // weighted mean, nats per token
  double step_bce = 0;  // means over labels; 0 without any
  double path_bce = 0;
  double lm_weight = 0;                   // total weight and label counts
  std::array<int64_t, kLevels> labels{};  // by Level
  double grad_norm = 0;                   // before clipping
  double learning_rate = 0;
  int64_t tokens = 0;
  double seconds = 0;
  double tokens_per_second = 0;
};

// Of a step by an objective: means over what the objective counts.
struct ObjectiveMetrics {
  int64_t step = 0;
  double loss = 0;
  double entropy = 0;    // of the policy, nats per token that counts
  double kl = 0;         // per token; 0 without a reference
  double clip_rate = 0;  // fraction of tokens whose ratio was clipped
  double right = 0;      // fraction of groups (or labels) in the right order
  double grad_norm = 0;  // before clipping
  double learning_rate = 0;
  int64_t tokens = 0;           // of the sequences
  int64_t computed_tokens = 0;  // computed tokens, shared ones once
  double seconds = 0;
  double tokens_per_second = 0;
};

// The level that each output of the reward head is trained for: the first of
// those it gives. Empty without a reward head. An ensemble has as many outputs
// for each of its heads.
std::vector<Level> RewardLevels(const TrunkConfig& config);

class Trainer {
 public:
  // `net` and `trained` must outlive the trainer, and only it changes them.
  // Null: all weights of the net are trained.
  Trainer(net::LlamaNet& net, TrainerOptions options,
          Trainable* trained = nullptr);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // One optimiser step on one batch. InvalidArgument for sequences that do not
  // fit the net; Internal if the loss or the gradient is NaN or infinite (names
  // the step; weights are unchanged).
  absl::StatusOr<StepMetrics> Step(absl::Span<const TrainSequence> batch);

  // The losses of a batch, without learning.
  absl::StatusOr<StepMetrics> Evaluate(absl::Span<const TrainSequence> batch);

  // Scores at each token of each sequence; of an output that several levels
  // share, the first one's. Of an ensemble the means and spreads.
  absl::StatusOr<std::vector<std::vector<StepScores>>> Rewards(
      absl::Span<const TrainSequence> batch);

  // One optimiser step of `objective` on groups of sequences; errors as in
  // Step.
  absl::StatusOr<ObjectiveMetrics> StepObjective(
      const Objective& objective, absl::Span<const SequenceGroup> groups);

  // The metrics of `objective` on these groups, without learning: loss,
  // entropy, kl, clip_rate, right, tokens. Errors as in Step.
  absl::StatusOr<ObjectiveMetrics> EvaluateObjective(
      const Objective& objective, absl::Span<const SequenceGroup> groups);

  // The gradient of the batch's loss by the net's weights, [flat_size], and the
  // loss, as a step would compute them, without learning.
  absl::StatusOr<std::vector<float>> Gradient(
      const Objective& objective, absl::Span<const SequenceGroup> groups,
      double* loss);

  // ln p of each token that counts, given those before it; 0 for the others.
  absl::StatusOr<std::vector<std::vector<float>>> LogProbs(
      absl::Span<const TrainSequence> batch);

  int64_t steps_done() const { return step_; }
  const TrainerOptions& options() const { return options_; }
  // The learning rate of the step after `done` steps.
  double RateAt(int64_t done) const;

  // Saves and loads the trained values, their moments and the step count. Save
  // is atomic. Load refuses a damaged file and one with another description,
  // and then changes nothing.
  absl::Status Save(const std::string& path) const;
  absl::Status Load(const std::string& path);

 private:
  absl::Status Check(absl::Span<const TrainSequence> batch) const;
  // Runs all micro-batches; fills the sums of `metrics`.
  void Run(const std::vector<MicroBatch>& batches, bool learn,
           StepMetrics& metrics);
  void RunPart(int part, const std::vector<MicroBatch>& batches, bool learn,
               const StepMetrics& totals, std::vector<net::LossSums>& sums);
  absl::Status CheckGroups(const Objective& objective,
                           absl::Span<const SequenceGroup> groups) const;
  // Forward passes of all groups, and if `learn` backward ones, which fill the
  // partial sums.
  ObjectiveSums RunGroups(const Objective& objective,
                          absl::Span<const SequenceGroup> groups, double count,
                          bool learn);
  // Runs the groups and fills what is known of a step before its update.
  absl::StatusOr<ObjectiveMetrics> MeasureGroups(
      const Objective& objective, absl::Span<const SequenceGroup> groups,
      bool learn);
  // Takes a free replica, or makes one; returned with GiveBack.
  std::unique_ptr<net::Replica> TakeReplica() ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveBack(std::unique_ptr<net::Replica> replica)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The norm of the gradient by the trained values; fills gradient_.
  double GradNorm();
  void Update(double rate, double grad_norm);

  net::LlamaNet& net_;
  AllWeights all_weights_;
  Trainable& trained_;
  const TrainerOptions options_;
  Executor executor_;
  at::Tensor grads_;  // by the net's weights, [partial_sums, flat_size], fp32
  at::Tensor gradient_;  // by the trained values, [n, size]; summed over n
  at::Tensor moments_;   // [2, size], fp32
  Mutex mutex_;
  std::vector<std::unique_ptr<net::Replica>> idle_ ABSL_GUARDED_BY(mutex_);
  int64_t step_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TRAINER_H_
