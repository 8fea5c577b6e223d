// The rules of the Game of 24, an exact solver, and the rule that judges lines.
//
// Given are four integers. A move takes two of the numbers left and puts back
// their sum, difference, product or quotient, which may be a fraction or
// negative; the last move should leave 24.
//
//   3 3 8 8              the question, rendered
//   8 / 3 = 8/3 : 3 8 8/3     a move, then the numbers left, ascending
//   3 - 8/3 = 1/3 : 1/3 8
//   8 / 1/3 = 24 : 24
//   = 24
//
// An answer line may instead be an expression over the numbers left, so that a
// whole response is "= 8 / (3 - 8 / 3)".
//
// Unlike Countdown (countdown_rules.h), whose results stay whole and positive,
// this is arithmetic with fractions. Stateless functions are thread-safe;
// Game24Judge is thread-compatible.
#ifndef ESPALIER_DATASETS_TASKS_GAME24_RULES_H_
#define ESPALIER_DATASETS_TASKS_GAME24_RULES_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/verifier.h"

namespace espalier {

inline constexpr int kMaxGame24Number = 99;

// In lowest terms, den > 0. Results from four numbers up to 99 have numerators
// and denominators below 2^31, so that nothing overflows.
struct Fraction {
  int64_t num = 0;
  int64_t den = 1;

  bool operator==(const Fraction&) const = default;
  std::strong_ordering operator<=>(const Fraction& other) const {
    return num * other.den <=> other.num * den;
  }
};
std::string FormatFraction(const Fraction& value);  // "8/3", "-5"

// Nothing for a division by zero, an operation other than + - * /, or a result
// that does not fit 31 bits.
std::optional<Fraction> Apply(Fraction left, char op, Fraction right);

struct Game24Move {
  Fraction left;
  char op = '+';
  Fraction right;
  Fraction result;
  std::vector<Fraction> rest;  // numbers left after the move, ascending

  bool operator==(const Game24Move&) const = default;
};

// Parses a question: its four integers from 1 to 99, after "24 from" if it
// contains that ("Make 24 from 4, 9, 10 and 13." or "4 9 10 13"). Ascending.
absl::StatusOr<std::vector<Fraction>> ParseGame24(std::string_view question);

// "4 9 10 13", without newline.
std::string FormatNumbers(const std::vector<Fraction>& numbers);

// "8 / 3 = 8/3 : 3 8 8/3". ParseGame24Move is strict in form and does not check
// the rules.
std::string FormatMove(const Game24Move& move);
std::optional<Game24Move> ParseGame24Move(std::string_view line);

// Every allowed move from `numbers` (ascending, at most four), each once.
std::vector<Game24Move> Game24Moves(const std::vector<Fraction>& numbers);

// True if 24 can be made of `numbers` (one to four).
bool Makes24(const std::vector<Fraction>& numbers);

// The probability that moves make 24 if each is drawn uniformly from all
// allowed ones: for two of the numbers left one sum, one product, two
// differences and two quotients; equal numbers and results are counted
// separately.
double RandomPlayOdds(const std::vector<Fraction>& numbers);

// Every expression over `numbers` that makes 24, fully bracketed, up to the
// order of sums and products.
std::set<std::string> Game24Solutions(const std::vector<Fraction>& numbers);

// The value of an expression over integers with + - * / and brackets, and the
// numbers in it, ascending; nothing if it does not parse or divides by zero.
std::optional<Fraction> EvaluateExpression(std::string_view text,
                                           std::vector<Fraction>* numbers);

// Judges the lines of one response in order, by the rules of CountdownJudge
// (countdown_rules.h), including giving up.
class Game24Judge {
 public:
  explicit Game24Judge(std::vector<Fraction> numbers)
      : left_(std::move(numbers)) {}

  StepVerdict Next(std::string_view line);

  const std::vector<Fraction>& left() const { return left_; }
  bool ended() const { return ended_; }  // answered or given up

 private:
  bool JudgeMove(const Game24Move& move);
  bool JudgeAnswer(std::string_view answer) const;

  std::vector<Fraction> left_;  // ascending
  bool ended_ = false;
  bool right_so_far_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_GAME24_RULES_H_
