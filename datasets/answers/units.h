// Units that answers carry: metres, hours, dollars, degrees.
//
//   ReadUnit("square feet")   // "metre^2"
//   ReadUnit("km/h")          // "metre^1 second^-1", factor 5/18
//   ReadUnit("J/(mol K)")     // in grams, metres and seconds
//   ReadUnit("m/s north")     // a direction is part of what it measures
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_UNITS_H_
#define ESPALIER_DATASETS_ANSWERS_UNITS_H_

#include <string>
#include <string_view>

#include "datasets/answers/big_rational.h"

namespace espalier {

struct Unit {
  // What it measures, as powers of base units; for words that are no known
  // unit ("apples") the folded words themselves.
  std::string dimension;
  BigRational factor = 1;  // how many base units it is
  bool known = false;
};

// `text` is what follows the number: "cm", "cm^2", "square miles per hour".
Unit ReadUnit(std::string_view text);

// Whether one word in plain letters names a unit: "cm", "inches"; no single
// letters, nor pairs that are products as often ("mg").
bool IsUnitWord(std::string_view word);

// Takes "million" and the like out of a unit's text; what they stand for.
BigRational TakeScale(std::string& text);

// Whether numbers with these units may be compared, and the factor that takes
// the first into the second. Words that are no known units match by being
// equal, or by one holding the other's words ("units", "square units").
bool Convertible(const Unit& from, const Unit& to, BigRational* factor);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_UNITS_H_
