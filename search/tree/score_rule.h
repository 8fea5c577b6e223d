// How the scores of a path's steps become the value of the path.
//
// With s_1 .. s_n the scores of one level, from the first step to the last:
//
//   last     s_n
//   min      min_i s_i
//   product  prod_i s_i
//   mean     sum_i s_i / n
//   max      max_i s_i
//   sum      sum_i s_i, which is not in [0, 1]: for ranking only
//
// Two rules read several levels, whatever level is named:
//
//   window   min_i max(step_i, max_w { window_w,e : e - w < i <= e }): the
//            score of the worst step, where each step counts with the best of
//            its own score and those of the windows that cover it. So an error
//            that was corrected does not lower the value.
//   learned  sigmoid(bias + sum_l weight_l logit(s_l,n)) over the levels of the
//            last step, with scores kept within [1e-6, 1 - 1e-6].
//
// The value of a path without steps is 1 (sum: 0).
//
// With an ensemble of heads (StepScores::spread) and lower_confidence b, a
// search reads max(0, mean - b spread) in place of every score, before scores
// combine. This lower confidence bound makes a score count for less where the
// heads disagree. (Coste et al. 2023, "Reward model ensembles help mitigate
// overoptimization", subtract the variance.)
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SEARCH_TREE_SCORE_RULE_H_
#define ESPALIER_SEARCH_TREE_SCORE_RULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/scores.h"

namespace espalier {

enum class Aggregate : uint8_t {
  kLast,
  kMin,
  kProduct,
  kMean,
  kMax,
  kWindow,
  kLearned,
  kSum,
};
inline constexpr std::array<std::string_view, 8> kRankNames = {
    "last", "min", "product", "mean", "max", "window", "learned", "sum"};
// Those whose values are in [0, 1].
inline constexpr absl::Span<const std::string_view> kAggregateNames(
    kRankNames.data(), kRankNames.size() - 1);

// Help of the options level and aggregate, the same in every method.
inline constexpr std::string_view kLevelHelp =
    "the level of the reward model's scores";
inline constexpr std::string_view kAggregateHelp =
    "how the scores of a path's steps combine";
inline constexpr std::string_view kLowerConfidenceHelp =
    "for a reward model with several heads per level: every score is their "
    "mean minus this many standard deviations, at least 0";

struct ScoreRule {
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  float lower_confidence = 0;  // b, at least 0; the scores given to
                               // CombineScores are lowered already

  // The last step's path score, which needs no computation.
  bool plain() const {
    return level == Level::kPath && aggregate == Aggregate::kLast;
  }
};

// `path`: the scores of the steps from the first to the last. NaN if a level
// that the rule reads is NaN, except windows of the combination "window".
float CombineScores(absl::Span<const StepScores> path, const ScoreRule& rule,
                    const LevelWeights& weights);

// Every level's score becomes max(0, score - b spread); NaN stays. The result
// has no spread.
StepScores LowerScores(const StepScores& scores, float b);

// What a model that gives `levels` lacks for the rule, in words; "" for
// nothing. One of step and path is enough: it stands for the other.
std::string MissingLevels(const ScoreRule& rule, const LevelWeights& weights,
                          LevelSet levels);

// "path, step, window2".
std::string LevelNames(LevelSet levels);
// NotFound, with the nearest name.
absl::StatusOr<Level> ParseLevel(std::string_view name);
// From "bias=-1/step=2/path=0.5": levels that are not named have weight 0.
absl::StatusOr<LevelWeights> ParseLevelWeights(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_TREE_SCORE_RULE_H_
