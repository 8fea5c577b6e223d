// Values with proven error bounds: Arb's complex balls.
//
//   Ball ball;
//   BallEvaluator(128, {{"x", BigRational(3, 2)}}).Evaluate(*tree, ball)
//
// Work is bounded: by a number of steps per evaluation, and by a budget that
// evaluations may share. Thread-compatible.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_BALL_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_BALL_VALUE_H_

#include <acb.h>

#include <map>
#include <string>

#include "datasets/answers/value/expression.h"

namespace espalier {

// Value wrapper for acb_t.
class Ball {
 public:
  Ball() { acb_init(value_); }
  ~Ball() { acb_clear(value_); }
  Ball(const Ball&) = delete;
  Ball& operator=(const Ball&) = delete;
  acb_struct* get() { return value_; }
  const acb_struct* get() const { return value_; }

 private:
  acb_t value_;
};

using Sample = std::map<std::string, BigRational>;

class BallEvaluator {
 public:
  // `budget`, if given, is what all evaluations together may still cost: about
  // one per operation at 128 bits, more for functions and digits. It must
  // outlive the object.
  BallEvaluator(slong precision, const Sample& sample,
                int64_t* budget = nullptr)
      : precision_(precision), sample_(sample), budget_(budget) {}

  // False for anything without a value here: a symbol without a sample, an
  // unknown function, a division by zero, infinity, a shape.
  bool Evaluate(const ExprNode& e, Ball& out);
  // Whether a root or logarithm met a negative or complex number during
  // evaluation: the value then depends on the branch.
  bool met_branch() const { return met_branch_; }
  // Whether the value is missing because of a division by 0 or similar.
  bool met_pole() const { return met_pole_; }
  // Number of bits in which the values met may hide a difference: the
  // logarithms of numbers, powers and functions, and of the powers of e in
  // tanh(1000).
  double weight() const { return weight_; }

 private:
  bool EvaluateNode(const ExprNode& e, Ball& out);
  void AddWeight(const ExprNode& e, const Ball& x);
  // Whether the value is finite; records it if not.
  bool Finite(const acb_struct* z);
  bool Function(const ExprNode& e, Ball& out);
  bool Elementary(const std::string& name, Ball& x);
  bool Counting(const std::string& name, std::vector<const acb_struct*> x,
                Ball& out);
  bool InfiniteSum(const ExprNode& e, Ball& out);
  void NoteBranch(const Ball& x);
  bool DoubleFactorial(Ball& x);
  bool RealRoot(const ExprNode& power, Ball& x);
  // False if the budget is too small.
  bool Spend(int64_t cost);

  const slong precision_;
  const Sample& sample_;
  int64_t* const budget_;
  int steps_ = 0;
  bool met_branch_ = false;
  bool met_pole_ = false;
  double weight_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_BALL_VALUE_H_
