// Which of several models writes next (AB-MCTS with multiple models): a bandit
// over all scores that each model's own generations have got, wherever in the
// tree.
//
//   thompson   the highest draw of the caller's posterior
//   random     any, with the same chance; the caller's draw
//   ucb        mean + sqrt(2 ln N / n), N of all models; unasked ones first
//   stack      none of these: at every node, by the arms that each model has
//              there (ab_mcts_a.cc alone)
//
// Model k is asked in the k-th role of: policy, second, planner, prover.
//
// Thread-compatible.
#ifndef ESPALIER_SEARCH_BANDIT_MODEL_ARMS_H_
#define ESPALIER_SEARCH_BANDIT_MODEL_ARMS_H_

#include <array>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "search/bandit/thompson.h"
#include "search/search_context.h"

namespace espalier {

enum class ModelChoice : uint8_t { kThompson, kUcb, kRandom, kStack };
inline constexpr std::array<std::string_view, 4> kModelChoiceNames = {
    "thompson", "ucb", "random", "stack"};

inline constexpr std::array<Role, 4> kModelRoles = {
    Role::kPolicy, Role::kSecond, Role::kPlanner, Role::kProver};

class ModelArms {
 public:
  // 1 to 4 models.
  ModelArms(int models, ModelChoice choice);

  // `draw` is asked once a model, in order, by thompson alone. One model is
  // chosen without a draw.
  int Choose(absl::FunctionRef<double(const RewardStats&)> draw) const;
  // Whether Choose will draw.
  bool draws() const { return choice_ == ModelChoice::kThompson; }
  void Add(int model, double score) {
    seen_[static_cast<size_t>(model)].Add(score);
  }
  absl::Span<const RewardStats> seen() const {
    return absl::MakeConstSpan(seen_).first(static_cast<size_t>(models_));
  }

 private:
  double UpperBound(const RewardStats& arm) const;

  int models_;
  ModelChoice choice_;
  std::array<RewardStats, kModelRoles.size()> seen_{};
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_MODEL_ARMS_H_
