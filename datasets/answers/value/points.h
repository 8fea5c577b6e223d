// Compares two expressions in symbols at sample points. Apart at one point
// proves them different. Agreement counts where it extends to more digits than
// the numbers in them can hide a difference in: the sizes of numbers, small or
// large, and powers of e in functions such as tanh, add to the digits.
//
//   CompareAtPoints(a, b, {"x"}, &budget)   // {kEqual, 8}
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_POINTS_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_POINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/answers/value/ball_value.h"
#include "datasets/answers/value/expression.h"
#include "datasets/answers/value/rational_form.h"

namespace espalier {

// Values at one point: apart, the same (both are known exactly), together
// (their difference cannot be separated from 0), or neither. kPole: one has a
// value and the other none, as 0/0 has none.
enum class AtPoint { kApart, kSame, kTogether, kPole, kOpen };

struct PointComparison {
  AtPoint state = AtPoint::kOpen;
  bool branch = false;  // a root or logarithm left the positive numbers
  bool real = false;    // both values may be real
  double distance = 0;  // log2 of the largest possible difference
  double size = 0;      // log2 of their size
  double weight = 0;    // bits that the numbers in them may hide, ball_value.h
};

PointComparison CompareAt(const ExprNode& a, const ExprNode& b, slong precision,
                          const Sample& sample, int64_t* budget);

struct PointsVerdict {
  Sameness same = Sameness::kUnknown;
  int agreed = 0;  // points
};

// `symbols` are those of both.
PointsVerdict CompareAtPoints(const Expr& a, const Expr& b,
                              const std::vector<std::string>& symbols,
                              int64_t* budget);

// A positive number for each name.
Sample PositiveSample(const std::vector<std::string>& names);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_POINTS_H_
