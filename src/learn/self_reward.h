// Last-token self-rewards (Yang et al. 2025, LaSeR): the policy that is trained
// by policy gradient also learns to judge its responses. After the end token of
// a response stands a token z that the policy never writes, and
//
//   s = factor (ln p(z | prompt, response, end) - base)
//
// is fitted to the outcome (1 right, 0 wrong) by weight x the mean over the
// responses of class (s - outcome)^2, where class = all / (2 x those of the
// same outcome). `base` is the mean of ln p(z | ...) under the initial model.
// At test time s costs one token: the format `laser` of models/reward/formats,
// or the file self_reward.textproto beside the trained model, reads it.
//
// Once the model judges, its judgements of the responses join the advantages:
//
//   A' = (1 - mix) A + mix (s - mean of s over the group), s bounded to [0, 1]
//
// in groups where s has a standard deviation above .1; s is that of the initial
// model, which drew the responses. A response that fills the model's context
// has s = 0 and is not fitted.
//
// Where this differs from the authors' program (RUCBM/LaSeR): the classes and
// the mean are those of all of the data and not of each batch; neither kind of
// advantage is divided by its standard deviation; there are no steps without
// the loss at the beginning, and advantages are mixed from the first step,
// which for a model that does not judge yet changes nothing as its s hardly
// varies.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_LEARN_SELF_REWARD_H_
#define ESPALIER_SRC_LEARN_SELF_REWARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"
#include "src/learn/train_data.h"

namespace espalier {

struct SelfRewardOptions {
  std::string token;  // z by name; "": no self-rewards
  double weight = 0.1;
  double factor = 0.1;
  double base = 0;  // 0: measured, or that of the model's self_reward.textproto
  double mix = 0.1;

  bool on() const { return !token.empty(); }
};

inline constexpr char kSelfRewardFile[] = "self_reward.textproto";

// The id of z. InvalidArgument if `token` is not one token, or ends responses.
absl::StatusOr<int32_t> FindSelfRewardToken(const SelfRewardOptions& options,
                                            const Tokenizer& tokenizer,
                                            int32_t end_token);

// Takes the base from self_reward.textproto in the folder of the model from
// which the training starts, unless one is given. InvalidArgument if that file
// is for another token or factor.
absl::Status TakeStoredBase(const std::string& model,
                            SelfRewardOptions& options);

// Appends z to every response that fits into the context with it, and
// `end_token` before it where the task ended the response. FailedPrecondition
// if none fits.
absl::Status AppendSelfRewards(int32_t token, int32_t end_token,
                               int context_length, TrainData& data);

// Sets what the sequences' self-rewards are fitted to, and mixes the initial
// model's into the advantages. `logprobs`: of z under the initial model, by
// sequence in the order of the groups; NaN where none was appended. Returns the
// base.
double SetSelfRewards(const SelfRewardOptions& options,
                      const std::vector<double>& logprobs, TrainData& data);

// The file by which a search reads the self-rewards of the trained model.
std::string SelfRewardFormat(const SelfRewardOptions& options, double base);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_SELF_REWARD_H_
