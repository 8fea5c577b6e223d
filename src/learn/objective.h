// A training loss as a function of the net's outputs.
//
// An objective gets a group of sequences (one response, or a chosen and a
// rejected one) with the log-probs of their tokens and the logits of the reward
// head, and returns the loss and its derivatives by these. The trainer does the
// rest: log p of a token is minus a cross entropy, so a derivative g by log p
// is a cross entropy of weight -g, and a derivative g by a reward logit z is a
// binary cross entropy against sigmoid(z) - g. One forward and one backward
// pass serve every objective.
//
//   ESP_ASSIGN_OR_RETURN(auto objective, MakeObjective("dpo:beta=0.1"));
//   trainer.StepObjective(*objective, groups);
//
// Each objective registers by name in its own file:
//
//   const RegisterObjective<DpoOptions> kDpo(
//       "dpo", "preference pairs", ExampleKind::kPairs, &MakeDpo);
//
// Immutable and thread-safe; the registry is filled before main.
#ifndef ESPALIER_SRC_LEARN_OBJECTIVE_H_
#define ESPALIER_SRC_LEARN_OBJECTIVE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "espalier/method_options.h"
#include "src/learn/packer.h"

namespace espalier {

// What the log-prob of a sequence's last token is fitted to (self_reward.h):
// weight (factor (ln p - base) - target)^2 joins the loss.
struct SelfReward {
  double factor = 0;
  double base = 0;
  double target = 0;  // 1: the response is right; 0: wrong
  double weight = 0;
};

// A sequence with what objectives may need. Arrays are as long as its tokens,
// or empty if nothing needs them.
struct GroupSequence {
  // lm_weight: which tokens count, and how much. Labels: where the reward head
  // is read, and its targets.
  TrainSequence sequence;
  float advantage = 0;  // of the response, relative to its group
  // [tokens], in place of `advantage` where process rewards make a step's
  // advantage its own; else empty.
  std::vector<float> advantages;
  std::vector<float> old_logprobs;  // under the policy that drew it
  float outcome = 0;                // of the response; 1: right
  // Set if the last token is not the response's but judges it.
  std::optional<SelfReward> self_reward;
  std::vector<float> reference;  // under the reference policy
  // [heads] of an ensemble: how often each head's bootstrap sample of the
  // problems holds this one; empty: once.
  std::vector<int> draws;
};
using SequenceGroup = std::vector<GroupSequence>;

// One sequence under the current net.
struct GroupOutput {
  const GroupSequence* given = nullptr;
  std::vector<float> logprobs;  // [tokens]; 0 where lm_weight is 0
  // [tokens] of each level; empty: the reward head does not give it.
  LevelColumns logits;
};

// Derivatives of a group's loss by the outputs, [tokens] each, zeroed.
struct GroupGradient {
  std::vector<float> logprobs;
  LevelColumns logits;
};

// Sums over a batch; some have no meaning for some objectives.
struct ObjectiveSums {
  double loss = 0;
  double tokens = 0;   // tokens that count
  double kl = 0;       // sum over tokens of an estimate of KL(net, reference)
  double clipped = 0;  // tokens whose ratio was clipped
  double right = 0;    // pairs in the right order, responses judged right
  double groups = 0;
  // Filled by the trainer: computed tokens; tokens with an lm_weight; the
  // policy's entropy in nats at the positions that predict these. Shared tokens
  // count once.
  double rows = 0;
  double predicted = 0;
  double entropy = 0;

  void Add(const ObjectiveSums& other);
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::string_view name() const = 0;
  // Number of sequences in a group; 0: any.
  virtual int group_size() const = 0;
  virtual bool needs_reference() const = 0;
  // A group's share of the batch denominator: the batch loss is the sum of the
  // groups' losses over the sum of these.
  virtual double Count(const SequenceGroup& group) const = 0;
  // Adds the group's loss, before that division, to `sums`, and sets its
  // derivatives.
  virtual void Evaluate(absl::Span<const GroupOutput> group,
                        absl::Span<GroupGradient> gradients,
                        ObjectiveSums& sums) const = 0;
};

// What an objective learns from.
enum class ExampleKind {
  kResponses,  // policy: responses to imitate
  kGroups,     // policy: responses to one problem, with advantages
  kPairs,      // policy: a better and a worse continuation
  kSteps,      // reward model: labelled steps
  kStepPairs,  // reward model: a better and a worse step
};
inline bool TrainsReward(ExampleKind kind) {
  return kind == ExampleKind::kSteps || kind == ExampleKind::kStepPairs;
}

struct ObjectiveInfo {
  std::string name;
  std::string summary;
  ExampleKind examples = ExampleKind::kResponses;
  std::function<absl::StatusOr<std::unique_ptr<Objective>>(const OptionMap&)>
      make;
};

// In alphabetical order.
std::vector<const ObjectiveInfo*> ListObjectives();
// From "dpo:beta=0.1". NotFound with the closest name; InvalidArgument for bad
// options.
absl::StatusOr<std::unique_ptr<Objective>> MakeObjective(std::string_view spec);
// What the objective of this spec learns from.
absl::StatusOr<ExampleKind> ExamplesOf(std::string_view spec);
// Called before main.
void AddObjective(ObjectiveInfo info);

template <class Options>
class RegisterObjective {
 public:
  using Make = std::unique_ptr<Objective> (*)(const Options&);
  RegisterObjective(std::string name, std::string summary, ExampleKind examples,
                    Make make) {
    AddObjective({name, std::move(summary), examples,
                  [name, make](const OptionMap& given)
                      -> absl::StatusOr<std::unique_ptr<Objective>> {
                    Options options;
                    OptionParser parser(given);
                    options.Visit(parser);
                    ESP_RETURN_IF_ERROR(parser.Finish("objective " + name));
                    return make(options);
                  }});
  }
};

// ln sigmoid(x), without overflow.
double LogSigmoid(double x);
double Sigmoid(double x);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_OBJECTIVE_H_
