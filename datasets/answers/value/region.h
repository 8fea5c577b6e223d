// Sets of real numbers as disjoint intervals in increasing order.
//
//   region of "x < 1 or x >= 3":   (-oo, 1) [3, oo)
//
// Endpoints that are not numbers (a, b) are allowed only in a single interval.
// Thread-compatible.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_REGION_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_REGION_H_

#include <optional>
#include <string>
#include <vector>

#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/value/expression.h"

namespace espalier {

struct RegionPiece {
  Expr low, high;  // Op::kInfinity, or its negative, if unbounded
  bool closed_low = false;
  bool closed_high = false;
};
using Region = std::vector<RegionPiece>;

Region WholeLine();
Region Point(const Expr& e);
// Nothing if the order of endpoints cannot be decided.
std::optional<Region> Union(const Region& a, const Region& b,
                            ValueComparer& comparer);
std::optional<Region> Intersection(const Region& a, const Region& b,
                                   ValueComparer& comparer);
std::optional<Region> Complement(const Region& a, ValueComparer& comparer);

// The region of an interval, a union, a set of numbers, R, or differences and
// intersections of these. A pair in parentheses is an open interval.
std::optional<Region> RegionOf(const ExprNode& e, ValueComparer& comparer);
// The region, and its symbol, described by relations between one symbol and
// numbers: "2 < x <= 5", "x != 3".
std::optional<Region> RegionOfRelation(const ExprNode& e,
                                       ValueComparer& comparer,
                                       std::string* symbol);

bool SameRegion(const Region& a, const Region& b, ValueComparer& comparer);
std::string Describe(const Region& region);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_REGION_H_
