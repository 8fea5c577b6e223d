// The rules of Countdown, an exact solver, and the rule that judges lines.
//
// Given are two to six numbers and a target. A move takes two of the numbers
// left and puts back their sum, difference, product or quotient; every number
// is used exactly once, so the last move leaves one number, which should be the
// target. Results are integers from 1 to 10^12 (no zero, no negative number, no
// remainder).
//
//   3 7 25 > 42        the question, rendered
//   25-3=22 : 7 22     a move, then the numbers left in ascending order
//   22+7=29 : 29
//   give up            29 is not 42 (had it been: "= 42")
//
// Stateless functions are thread-safe; CountdownJudge is thread-compatible.
#ifndef ESPALIER_DATASETS_TASKS_COUNTDOWN_RULES_H_
#define ESPALIER_DATASETS_TASKS_COUNTDOWN_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/verifier.h"

namespace espalier {

inline constexpr std::string_view kGiveUpLine = "give up";

struct CountdownPuzzle {
  std::vector<int64_t> numbers;  // ascending, 2 to 6 of 1 to 9999
  int64_t target = 0;            // 1 to 10^6
};

struct CountdownMove {
  int64_t left = 0;
  char op = '+';
  int64_t right = 0;
  int64_t result = 0;
  std::vector<int64_t> rest;  // numbers left after the move, ascending

  bool operator==(const CountdownMove&) const = default;
};

// The words that name a target, "reach", and those that may stand between them
// and the number, "a total of". Both in lower case.
bool IsGoalWord(std::string_view word);
bool IsWordBehindGoal(std::string_view word);

// Parses a question: its integers in order, one of them the target: the one
// named as such ("Make 46 from 3, 7 and 25."), else the last ("3 7 25 > 46").
absl::StatusOr<CountdownPuzzle> ParseCountdown(std::string_view question);

// "3 7 25 > 46", without newline.
std::string FormatCountdown(const CountdownPuzzle& puzzle);

// "25-3=22 : 7 22". ParseMove is strict in form and does not check the rules.
std::string FormatMove(const CountdownMove& move);
std::optional<CountdownMove> ParseMove(std::string_view line);

// The result of `left op right` if the rules allow it.
std::optional<int64_t> CountdownResult(int64_t left, char op, int64_t right);

// Every allowed move from `numbers` (ascending), each once, larger operand
// first.
std::vector<CountdownMove> CountdownMoves(const std::vector<int64_t>& numbers);

// True if `target` can be reached from `numbers` (1 to 6 of them).
bool Solvable(const std::vector<int64_t>& numbers, int64_t target);

// The moves after which the target can still be reached.
std::vector<CountdownMove> SolvingMoves(const std::vector<int64_t>& numbers,
                                        int64_t target);

// Judges the lines of one response in order.
//
// A move is right (step_ok) if it is allowed given the numbers that the lines
// above leave, as they state them, and leaves what it states. The answer is
// right if one number is left and it is the target; giving up is right if the
// target cannot be reached. path_ok: all lines so far are right and the target
// can be reached; it is never true after giving up. A wrong move is applied if
// it states one number fewer; any other wrong line changes nothing.
class CountdownJudge {
 public:
  explicit CountdownJudge(CountdownPuzzle puzzle)
      : target_(puzzle.target), left_(std::move(puzzle.numbers)) {}

  StepVerdict Next(std::string_view line);

  const std::vector<int64_t>& left() const { return left_; }
  int64_t target() const { return target_; }
  bool ended() const { return ended_; }  // answered or given up

 private:
  bool JudgeMove(const CountdownMove& move);

  int64_t target_;
  std::vector<int64_t> left_;  // ascending
  bool ended_ = false;
  bool right_so_far_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_COUNTDOWN_RULES_H_
