// When two answers are the same: exact comparison of numbers as people write
// them, and of texts.
//
//   SameAnswerText("1,200", "$1200.00")   // true
//   SameAnswerText("1/2", "0.5")          // true
//   SameAnswerText("50%", "0.5")          // false: percent signs are dropped
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_GRADE_GRADE_H_
#define ESPALIER_DATASETS_GRADE_GRADE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// A fraction in lowest terms, den > 0.
struct Rational {
  int64_t num = 0;
  int64_t den = 1;
  bool operator==(const Rational&) const = default;
};

// The number that `text` writes: a whole number, a decimal or a fraction of
// whole numbers, with commas between thousands, a currency sign before, a
// percent sign or a full stop after. Nothing for anything else, or where 64
// bits do not hold it.
std::optional<Rational> ParseNumber(std::string_view text);

// Equal numbers, or equal texts but for case and white space.
bool SameAnswerText(std::string_view a, std::string_view b);

// One text for all spellings that SameAnswerText holds equal.
std::string CanonicalAnswer(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_GRADE_GRADE_H_
