// Momentum of a response's uncertainty (MUR, Yan et al. 2025,
// arXiv:2507.14958): decides which steps get more samples.
//
//   m_t = -1/|a_t| sum log p(tokens of step t)
//   M_t = alpha * M_{t-1} + (1 - alpha) * m_t,   M_0 = 0
//   scale step t > 1  if  exp(m_t) > exp(M_{t-1}) / gamma
#ifndef ESPALIER_SEARCH_SAMPLING_MOMENTUM_H_
#define ESPALIER_SEARCH_SAMPLING_MOMENTUM_H_

#include <cmath>

namespace espalier {

class Momentum {
 public:
  Momentum(double alpha, double gamma) : alpha_(alpha), gamma_(gamma) {}

  // True if a step of uncertainty `m` is scaled. Never for the first step,
  // which has nothing to compare with.
  bool Exceeded(double m) const {
    return steps_ > 0 && std::exp(m) * gamma_ > std::exp(value_);
  }
  // Adds the step that was taken.
  void Add(double m) {
    value_ = alpha_ * value_ + (1 - alpha_) * m;
    ++steps_;
  }
  double value() const { return value_; }

 private:
  double alpha_;
  double gamma_;
  double value_ = 0;
  int steps_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SAMPLING_MOMENTUM_H_
