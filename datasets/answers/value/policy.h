// What counts as the same answer on points where graders differ. The defaults
// follow most published graders of mathematics.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_POLICY_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_POLICY_H_

namespace espalier {

struct GradePolicy {
  // What "28%" equals besides itself.
  enum class Percent {
    kEither,  // 28 and 0.28
    kValue,   // 0.28
    kDrop,    // 28
  };
  Percent percent = Percent::kEither;
  // Whether "15 cm" equals "15".
  enum class Units {
    kOptional,  // yes; if both have one, 15 cm is 150 mm and not 15 m
    kRequired,  // no
    kDrop,      // units are ignored
  };
  Units units = Units::kOptional;
  // (1, 2) is not (2, 1). Sets and lists have no order, unless `list_order`.
  bool tuple_order = true;
  bool list_order = false;
  // x > 2 answers (2, oo). Conversely, (2, oo) always answers a gold x > 2.
  bool interval_is_inequality = true;
  // A decimal equals the exact number that it rounds if it shows at least this
  // many significant digits: with 5, 2.6667 is 8/3. 0: never.
  int rounding_digits = 5;
  // Numbers within this relative distance are the same. 0: only equal ones.
  double tolerance = 0;
  // x = 1 is not y = 1, f(x) is not f(y).
  bool strict_symbols = true;
  // Find the answer, and the gold answer, inside a longer response; otherwise
  // both are read as given.
  bool extract = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_POLICY_H_
