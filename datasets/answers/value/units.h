// Units in answers: metres, hours, dollars, degrees.
//
//   ReadUnit("square feet")   // "metre^2"
//   ReadUnit("km/h")          // "metre^1 second^-1", factor 5/18
//   ReadUnit("J/(mol K)")     // in grams, metres and seconds
//   ReadUnit("m/s north")     // the direction is part of the dimension
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_UNITS_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_UNITS_H_

#include <string>
#include <string_view>

#include "datasets/answers/value/big_rational.h"

namespace espalier {

struct Unit {
  // What it measures, as powers of base units; for words that are not a known
  // unit ("apples"), the folded words themselves.
  std::string dimension;
  BigRational factor = 1;  // its size in base units
  bool known = false;
};

// `text` is what follows the number: "cm", "cm^2", "square miles per hour".
Unit ReadUnit(std::string_view text);

// Whether one word in plain letters names a unit: "cm", "inches"; not for
// single letters, nor for pairs that are just as often products ("mg").
bool IsUnitWord(std::string_view word);

// Removes "million" and similar words from a unit's text and returns their
// value.
BigRational TakeScale(std::string& text);

// Whether numbers with these units may be compared, and the factor that
// converts the first into the second. Words that are not known units match if
// they are equal or one contains the other ("units", "square units").
bool Convertible(const Unit& from, const Unit& to, BigRational* factor);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_UNITS_H_
