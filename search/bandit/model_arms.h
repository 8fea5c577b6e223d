// Which of several models generates next (AB-MCTS with multiple models): a
// bandit over all scores of each model's own generations, anywhere in the tree.
//
//   thompson   the highest draw of the caller's posterior
//   random     uniform; the caller draws
//   ucb        mean + sqrt(2 ln N / n), N of all models; unused ones first
//   stack      none of these: at every node, by each model's arms there
//              (ab_mcts_a.cc only)
//
// Model k is used in the k-th role of: policy, second, planner, prover.
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

inline constexpr std::array<ModelRole, 4> kModelRoles = {
    ModelRole::kPolicy, ModelRole::kSecond, ModelRole::kPlanner,
    ModelRole::kProver};

class ModelArms {
 public:
  // 1 to 4 models.
  ModelArms(int models, ModelChoice choice);

  // `draw` is called once per model, in order, for thompson only. A single
  // model is chosen without a draw.
  int Choose(absl::FunctionRef<double(const RewardStats&)> draw) const;
  // True if Choose will draw.
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
