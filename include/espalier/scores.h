// A reward model's scores of a step, by level: of the step itself, of the last
// few steps, of the path and of its outcome.
//
// Each score is the probability that (docs/guide/reward-models.md says more)
//   step     this step follows from what precedes it;
//   window w the last w steps (or all, if there are fewer) leave no error of
//            their own: those that they made, they have corrected;
//   path     a response that continues from here ends right, or all steps so
//            far are right, depending on the model's training;
//   outcome  the final answer is right.
#ifndef ESPALIER_API_SCORES_H_
#define ESPALIER_API_SCORES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace espalier {

// A window has 2 to this many steps. HRM trains windows of two; errors that a
// response corrects are seldom older.
inline constexpr int kMaxWindow = 4;

// Values are part of stored models and recorded runs.
enum class Level : uint8_t {
  kPath,
  kStep,
  kOutcome,
  kWindow2,
  kWindow3,
  kWindow4,
};
inline constexpr size_t kLevels = 6;
inline constexpr std::array<std::string_view, kLevels> kLevelNames = {
    "path", "step", "outcome", "window2", "window3", "window4"};
inline constexpr size_t IndexOf(Level level) {
  return static_cast<size_t>(level);
}
// The level of windows of 2 .. kMaxWindow steps.
inline constexpr Level WindowLevel(int steps) {
  return static_cast<Level>(static_cast<int>(Level::kWindow2) + steps - 2);
}

// Which levels a model gives, and whether with a spread.
class LevelSet {
 public:
  constexpr LevelSet() = default;
  constexpr LevelSet(Level level)  // NOLINT: a level is a set of one
      : bits_(static_cast<uint8_t>(1u << IndexOf(level))) {}
  constexpr bool has(Level level) const {
    return (bits_ >> IndexOf(level) & 1) != 0;
  }
  constexpr bool empty() const { return (bits_ & kAll) == 0; }
  // The first in the order of Level; requires one.
  constexpr Level first() const {
    size_t i = 0;
    while ((bits_ >> i & 1) == 0) ++i;
    return static_cast<Level>(i);
  }
  // True if the scores have a spread (StepScores::spread).
  constexpr bool spread() const { return (bits_ & kSpread) != 0; }
  constexpr LevelSet WithSpread() const {
    LevelSet out = *this;
    out.bits_ |= kSpread;
    return out;
  }
  friend constexpr LevelSet operator|(LevelSet a, LevelSet b) {
    LevelSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }
  friend constexpr bool operator==(LevelSet, LevelSet) = default;

 private:
  static constexpr uint8_t kAll = (1u << kLevels) - 1;
  static constexpr uint8_t kSpread = 1u << 7;
  static_assert(kLevels <= 7, "the last bit is the spread's");

  uint8_t bits_ = 0;
};
inline constexpr LevelSet kStepAndPath =
    LevelSet(Level::kStep) | LevelSet(Level::kPath);

// Probabilities in [0, 1]; NaN for a score that the model does not give.
struct StepScores {
  static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

  float step = kNone;
  float path = kNone;
  float outcome = kNone;
  // Of the last 2, 3, ... steps: windows[w - 2].
  std::array<float, kMaxWindow - 1> windows = {kNone, kNone, kNone};
  // By Level: the standard deviation of the probabilities of an ensemble's
  // heads, whose mean is the score; 0 without an ensemble.
  std::array<float, kLevels> spread{};

  float& operator[](Level level) {
    switch (level) {
      case Level::kPath:
        return path;
      case Level::kStep:
        return step;
      case Level::kOutcome:
        return outcome;
      case Level::kWindow2:
      case Level::kWindow3:
      case Level::kWindow4:
        break;
    }
    return windows[IndexOf(level) - IndexOf(Level::kWindow2)];
  }
  float operator[](Level level) const {
    return const_cast<StepScores&>(*this)[level];
  }
  float& spread_of(Level level) { return spread[IndexOf(level)]; }
  float spread_of(Level level) const { return spread[IndexOf(level)]; }
};

// A logistic regression over levels: sigmoid(bias + sum_l weight_l logit(s_l)),
// the combination "learned".
struct LevelWeights {
  float bias = 0;
  std::array<float, kLevels> weight{};  // by Level; 0: not read

  bool given() const {
    for (const float w : weight) {
      if (w != 0) return true;
    }
    return false;
  }
  friend bool operator==(const LevelWeights&, const LevelWeights&) = default;
};

}  // namespace espalier

#endif  // ESPALIER_API_SCORES_H_
