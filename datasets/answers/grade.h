// Answers as programs store and count them: numbers as people write them, one
// text for the usual spellings, and whether two answers are the same.
//
//   SameAnswerText("1,200", "$1200.00")         // true
//   SameAnswerText("\\frac{1}{2}", "0.5")       // true
//   CanonicalAnswer("$1,200.00")                // "1200"
//
// SameAnswerText is GradeAnswer (grade_answer.h) for texts that are answers,
// not responses, under the default policy. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_GRADE_H_
#define ESPALIER_DATASETS_ANSWERS_GRADE_H_

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

// The number that `text` writes: an integer, a decimal or a fraction of
// integers, with commas between thousands, a currency sign before, a percent
// sign or a full stop after. Nothing for anything else, or if it does not fit
// 64 bits.
std::optional<Rational> ParseNumber(std::string_view text);

bool SameAnswerText(std::string_view a, std::string_view b);

// One text for the usual spellings of a number, and for words up to case and
// white space. Equal texts are the same answer; the same answer may still have
// two texts ("x+1" and "1+x").
std::string CanonicalAnswer(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_GRADE_H_
