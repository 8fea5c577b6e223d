#include "search/tree/score_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr double kLeastScore = 1e-6;

double Logit(float score) {
  const double p =
      std::clamp(static_cast<double>(score), kLeastScore, 1 - kLeastScore);
  return std::log(p / (1 - p));
}

float Learned(const StepScores& last, const LevelWeights& weights) {
  double sum = static_cast<double>(weights.bias);
  for (size_t l = 0; l < kLevels; ++l) {
    const float weight = weights.weight[l];
    if (weight == 0) continue;
    const float score = last[static_cast<Level>(l)];
    if (std::isnan(score)) return score;
    sum += static_cast<double>(weight) * Logit(score);
  }
  return static_cast<float>(1 / (1 + std::exp(-sum)));
}

// The worst step, each cleared by the best window that covers it.
float Windows(absl::Span<const StepScores> path) {
  float worst = 1;
  for (size_t i = 0; i < path.size(); ++i) {
    float best = path[i].step;
    for (size_t end = i; end < path.size(); ++end) {
      for (int w = static_cast<int>(end - i) + 1; w <= kMaxWindow; ++w) {
        const float score =
            w < 2 ? StepScores::kNone : path[end][WindowLevel(w)];
        if (score > best) best = score;
      }
      if (end - i >= kMaxWindow) break;
    }
    if (std::isnan(best)) return best;
    worst = std::min(worst, best);
  }
  return worst;
}

}  // namespace

float CombineScores(absl::Span<const StepScores> path, const ScoreRule& rule,
                    const LevelWeights& weights) {
  if (path.empty()) return rule.aggregate == Aggregate::kSum ? 0 : 1;
  if (rule.aggregate == Aggregate::kWindow) return Windows(path);
  if (rule.aggregate == Aggregate::kLearned) {
    return Learned(path.back(), weights);
  }
  // Of any numbers: scores of other programs are combined by this, too.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float lowest = kInfinity, highest = -kInfinity, product = 1, sum = 0;
  for (const StepScores& scores : path) {
    const float s = scores[rule.level];
    if (std::isnan(s)) return s;
    lowest = std::min(lowest, s);
    highest = std::max(highest, s);
    product *= s;
    sum += s;
  }
  switch (rule.aggregate) {
    case Aggregate::kMin:
      return lowest;
    case Aggregate::kProduct:
      return product;
    case Aggregate::kMean:
      return sum / static_cast<float>(path.size());
    case Aggregate::kMax:
      return highest;
    case Aggregate::kSum:
      return sum;
    case Aggregate::kLast:
    case Aggregate::kWindow:
    case Aggregate::kLearned:
      break;
  }
  return path.back()[rule.level];
}

StepScores LowerScores(const StepScores& scores, float b) {
  StepScores out = scores;
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    const float mean = scores[level];
    if (!std::isnan(mean)) {
      out[level] = std::max(0.0f, mean - b * scores.spread_of(level));
    }
  }
  out.spread = {};
  return out;
}

std::string MissingLevels(const ScoreRule& rule, const LevelWeights& weights,
                          LevelSet levels) {
  // One of the two stands for the other.
  LevelSet given = levels;
  if (levels.has(Level::kStep) || levels.has(Level::kPath)) {
    given = given | kStepAndPath;
  }
  const auto lacks = [&](Level level) {
    return absl::StrCat("the level ", AbslView(kLevelNames[IndexOf(level)]),
                        ", and the reward model gives ",
                        levels.empty() ? "none" : LevelNames(levels));
  };
  switch (rule.aggregate) {
    case Aggregate::kWindow: {
      if (!levels.has(Level::kStep)) return lacks(Level::kStep);
      for (int w = 2; w <= kMaxWindow; ++w) {
        if (levels.has(WindowLevel(w))) return "";
      }
      return lacks(Level::kWindow2);
    }
    case Aggregate::kLearned:
      if (!weights.given()) {
        return "weights of the levels (weights=bias=-1/step=2/path=1), and the "
               "reward model holds none";
      }
      for (size_t l = 0; l < kLevels; ++l) {
        const auto level = static_cast<Level>(l);
        if (weights.weight[l] != 0 && !given.has(level)) return lacks(level);
      }
      return "";
    default:
      return given.has(rule.level) ? "" : lacks(rule.level);
  }
}

std::string LevelNames(LevelSet levels) {
  std::string text;
  for (size_t l = 0; l < kLevels; ++l) {
    if (!levels.has(static_cast<Level>(l))) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", AbslView(kLevelNames[l]));
  }
  return text;
}

absl::StatusOr<Level> ParseLevel(std::string_view name) {
  for (size_t l = 0; l < kLevels; ++l) {
    if (kLevelNames[l] == name) return static_cast<Level>(l);
  }
  return absl::NotFoundError(UnknownName(
      "level", name,
      std::vector<std::string_view>(kLevelNames.begin(), kLevelNames.end())));
}

absl::StatusOr<LevelWeights> ParseLevelWeights(std::string_view text) {
  LevelWeights weights;
  for (const absl::string_view part :
       absl::StrSplit(AbslView(text), '/', absl::SkipEmpty())) {
    const std::vector<absl::string_view> sides = absl::StrSplit(part, '=');
    float value = 0;
    if (sides.size() != 2 || !absl::SimpleAtof(sides[1], &value) ||
        !std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("weights has \"", part,
                       "\"; expected LEVEL=NUMBER, as in bias=-1/step=2"));
    }
    if (sides[0] == "bias") {
      weights.bias = value;
      continue;
    }
    ESP_ASSIGN_OR_RETURN(
        const Level level,
        ParseLevel(std::string_view(sides[0].data(), sides[0].size())));
    weights.weight[IndexOf(level)] = value;
  }
  return weights;
}

}  // namespace espalier
