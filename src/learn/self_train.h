// Self-training in rounds: search a set, learn from the trees, keep what is
// better.
//
//   round r:  generate   searches of new problems, into work/run.db
//             reward     (recipes with train_reward) a reward model of step
//                        values, from all trees so far
//             policy     imitation of correct responses, from all trees so far
//             gate       new and old model on held-out problems; the new one
//                        is promoted only if a one-sided test says it is better
//
// If killed in any phase, the same call resumes there and gives the same
// result. Recipes: expert iteration (Anthony et al. 2017; ReST-EM, Singh et al.
// 2024) with sampling and the verifier; ReST-MCTS* (Zhang et al. 2024) with
// tree search (PUCT) by the reward model, quality values, and both models
// trained.
#ifndef ESPALIER_SRC_LEARN_SELF_TRAIN_H_
#define ESPALIER_SRC_LEARN_SELF_TRAIN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/method_options.h"
#include "espalier/verifier.h"
#include "src/learn/gate.h"

namespace espalier {

struct SelfTrainOptions {
  std::string set = "countdown:3";
  std::string model;         // checkpoint folder to start from
  std::string reward_model;  // "": the model's own heads
  std::string out;           // folder of the best model, and its reward/
  std::string work;          // "": out + ".work"
  int rounds = 3;
  int problems = 2000;  // new ones per round
  int set_seed = 1;
  int seed = 1;
  std::string search = "majority";
  int budget_tokens = 400;  // per search
  int per_problem = 4;
  bool restart = true;  // train from the first model, on all rounds' data
  float epochs = 3;
  float learning_rate = 1e-3f;
  int batch_tokens = 8192;
  int lora_rank = 0;  // of adapters; 0: all weights are trained
  float min_perplexity = 0;
  float max_perplexity = 0;  // 0: no limit
  bool train_reward = false;
  bool quality = true;  // ReST-MCTS* quality values, else outcome shares
  float reward_epochs = 2;
  float reward_learning_rate = 1e-3f;
  std::string gate_method = "greedy";
  int gate_tokens = 1000;
  int gate_problems = 500;
  int gate_seed = 1500;  // of the set; not for training or reported results
  float alpha = 0.05f;
  int threads = 2;

  void Visit(OptionVisitor& v);
};

struct RoundSummary {
  int round = 0;  // from 1
  int64_t searches = 0;
  int64_t solved = 0;
  int64_t tokens = 0;
  int64_t examples = 0;         // responses imitated
  int64_t reward_examples = 0;  // paths judged
  GateVerdict gate;
  double generate_seconds = 0, reward_seconds = 0, policy_seconds = 0,
         gate_seconds = 0;  // wall time of each phase when it ended
};

struct SelfTrainHooks {
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const RoundSummary&)> round_done;
  // Judges the searches instead of the task's verifier; the gate keeps the
  // task's. For tests of the gate.
  const Verifier* search_verifier = nullptr;
};

// Summaries of all rounds, including those of earlier calls. Cancelled after a
// stop.
absl::StatusOr<std::vector<RoundSummary>> SelfTrain(
    const SelfTrainOptions& options, const SelfTrainHooks& hooks);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_SELF_TRAIN_H_
