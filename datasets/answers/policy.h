// What counts as the same answer where graders differ. The defaults are what
// most published graders of mathematics do.
#ifndef ESPALIER_DATASETS_ANSWERS_POLICY_H_
#define ESPALIER_DATASETS_ANSWERS_POLICY_H_

namespace espalier {

struct GradePolicy {
  // What "28%" equals besides itself.
  enum class Percent {
    kEither,  // 28 and 0.28
    kValue,   // 0.28
    kDrop,    // 28
  };
  Percent percent = Percent::kEither;
  // Whether "15 cm" is "15".
  enum class Units {
    kOptional,  // yes; where both have one, 15 cm is 150 mm and no 15 m
    kRequired,  // no
    kDrop,      // units are not looked at
  };
  Units units = Units::kOptional;
  // (1, 2) is not (2, 1). Sets and lists have no order, unless `list_order`.
  bool tuple_order = true;
  bool list_order = false;
  // x > 2 answers (2, oo). The other way round, (2, oo) always answers a gold
  // x > 2.
  bool interval_is_inequality = true;
  // A decimal equals the exact number that it rounds from when it shows at
  // least so many significant digits: 2.6667 is 8/3 for 5. 0: never.
  int rounding_digits = 5;
  // Numbers within this relative distance are the same. 0: none but equals.
  double tolerance = 0;
  // x = 1 is not y = 1, f(x) is not f(y).
  bool strict_symbols = true;
  // The answer is looked for in a longer response, and so is the gold answer;
  // otherwise both are read as they stand.
  bool extract = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_POLICY_H_
