#include "search/bandit/draws.h"

#include <cmath>

#include "base/check.h"

namespace espalier {

double DrawGamma(double shape, RandomStream& random) {
  ESP_DCHECK(shape > 0);
  if (shape < 1) {
    const double u = 1 - random.UniformDouble();  // in (0, 1]
    return DrawGamma(shape + 1, random) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.Normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1 - random.UniformDouble();
    if (u < 1 - 0.0331 * x * x * x * x) return d * v;  // quick acceptance
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double DrawBeta(double a, double b, RandomStream& random) {
  if (random.recorded()) return random.UniformDouble();
  const double x = DrawGamma(a, random);
  const double y = DrawGamma(b, random);
  // Two shapes near 0 may both round to 0: then pick an end at random.
  return x + y > 0 ? x / (x + y) : (random.Uniform() * (a + b) < a ? 1 : 0);
}

double DrawStudentT(double nu, RandomStream& random) {
  ESP_DCHECK(nu > 0);
  if (random.recorded()) return random.UniformDouble();
  while (true) {
    // 32 bits each, at the midpoints of the steps: never 0, and half the cost.
    const double u = (random.Next32() + 0.5) * 0x1p-31 - 1;
    const double v = (random.Next32() + 0.5) * 0x1p-31 - 1;
    const double w = u * u + v * v;
    if (w > 1) continue;
    return u * std::sqrt(nu * std::expm1(-2 / nu * std::log(w)) / w);
  }
}

}  // namespace espalier
