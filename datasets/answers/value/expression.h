// An answer as a tree: numbers, symbols, functions, and the shapes that answers
// have (tuples, sets, intervals, matrices, relations, texts).
//
//   Expr half = Divide(Number(1), Number(2));
//   Describe(*half)   // "1/2"
//
// Trees are immutable and shared; the parser bounds their depth and size. Minus
// is times -1, division is a power of -1, a square root a power of 1/2.
// Thread-compatible.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_EXPRESSION_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/answers/value/big_rational.h"

namespace espalier {

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

enum class Op : uint8_t {
  // Values.
  kNumber,  // value
  kSymbol,  // name
  kPi,
  kE,
  kImaginary,
  kInfinity,
  kAdd,         // args
  kMultiply,    // args; name: "abc" where the factors stand as one run
  kPower,       // base, exponent
  kFunction,    // name, args: sin, log(x, base), root(x, n), factorial, ...
  kApply,       // name, args: an unknown function, f(x)
  kPlusMinus,   // args[0] with either sign; value is 1, or -1 for \mp
  kSum,         // body, index, lower, upper
  kProduct,     // body, index, lower, upper
  kIntegral,    // body, variable[, lower, upper]
  kDerivative,  // body, variable
  kLimit,       // body, variable, target
  kPercent,     // args[0] hundredths
  kQuantity,    // args[0] with the unit `name`
  kBased,       // args[0]: digits read as decimal; value: their actual value
  // Shapes.
  kTuple,     // args, ordered
  kList,      // args as "1, 2 and 3"; name: "," "and" "or"
  kSet,       // args in braces
  kInterval,  // lower, upper; closed_low, closed_high
  kUnion,     // args
  kIntersection,
  kWithout,     // args[0] minus args[1]
  kNumberSet,   // name: R Q Z N C
  kMatrix,      // args in row-major order, `columns` per row
  kCases,       // args: rows as tuples
  kRelation,    // args joined by `relations`
  kCongruence,  // args[0] modulo args[1]
  kRatio,       // a : b : c
  kText,        // name: folded text
};

struct ExprNode {
  Op op = Op::kNumber;
  std::string name;
  BigRational value;
  // A number written with a decimal point: number of digits behind the point
  // (minus the exponent), and number of significant digits. -1 for an exact
  // number.
  int16_t decimals = -1;
  int16_t significant = 0;
  bool closed_low = false;
  bool closed_high = false;
  int columns = 0;
  std::vector<Expr> args;
  std::vector<std::string> relations;
};

Expr Make(Op op, std::vector<Expr> args = {}, std::string name = "");
Expr Number(BigRational value);
Expr Symbol(std::string name);
Expr Add(Expr a, Expr b);
Expr Multiply(Expr a, Expr b);
Expr Divide(Expr a, Expr b);
Expr Power(Expr base, Expr exponent);
Expr Negate(Expr a);
Expr Function(std::string name, std::vector<Expr> args);

// The value of a number, or of a product or quotient of numbers.
std::optional<BigRational> RationalValue(const ExprNode& e);
// Whether it is a value (Op::kNumber .. kBased), not a shape.
bool IsScalar(const ExprNode& e);
// Whether the subtree holds a node of this kind.
bool Contains(const ExprNode& e, Op op);
// Names of the free symbols, sorted and unique. Unknown functions are not
// symbols.
std::vector<std::string> FreeSymbols(const ExprNode& e);
bool HasSymbol(const ExprNode& e);
// Whether a walk through the tree meets more than `nodes` nodes; shared parts
// count each time.
bool LargerThan(const ExprNode& e, int nodes);
// `e` with the symbol replaced.
Expr Substitute(const Expr& e, const std::string& symbol, const Expr& by);
// The same node with other children.
Expr WithArgs(const ExprNode& e, std::vector<Expr> args);
// The same tree written the same way; sums and products in any order.
bool SameTree(const ExprNode& a, const ExprNode& b);
// Human-readable words and formulas, cut at 80 characters.
std::string Describe(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_EXPRESSION_H_
