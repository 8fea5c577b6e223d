#include "models/kernels/int4.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

constexpr float kMostMultiplier = 15;

float HighestMagnitude(const float* x, size_t n) {
  float highest = 0;
  for (size_t i = 0; i < n; ++i) highest = std::max(highest, std::fabs(x[i]));
  return highest;
}

// Rounds to nearest like a conversion, without a call.
float Nearest(float v, float inverse) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23
  return std::clamp(v * inverse + kRound - kRound, -8.0f, 7.0f);
}

float SquaredError(const float* x, size_t n, float step) {
  const float inverse = 1 / step;
  float sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const float off = x[i] - Nearest(x[i], inverse) * step;
    sum += off * off;
  }
  return sum;
}

}  // namespace

void QuantizeInt4(const float* row, int k, Int4Row& out) {
  const size_t count = static_cast<size_t>(k);
  out.scale = HighestMagnitude(row, count) / (7 * kMostMultiplier);
  out.numbers.assign(count, 0);
  out.multipliers.assign((count + kInt4Group - 1) / kInt4Group, 0);
  if (!(out.scale > 0)) return;
  for (size_t g = 0; g < out.multipliers.size(); ++g) {
    const float* const x = row + g * kInt4Group;
    const size_t n = std::min<size_t>(kInt4Group, count - g * kInt4Group);
    const float highest = HighestMagnitude(x, n);
    if (highest == 0) continue;
    // Candidates range from the grid that just holds the largest number to a
    // finer one that clips it by up to a third.
    const float full = std::ceil(highest / (7 * out.scale));
    float best_error = 0, best = 0;
    for (float m = std::floor(full * 2 / 3); m <= full; ++m) {
      if (m < 1 || m > kMostMultiplier) continue;
      const float error = SquaredError(x, n, m * out.scale);
      if (best == 0 || error < best_error) best = m, best_error = error;
    }
    if (best == 0) best = std::clamp(full, 1.0f, kMostMultiplier);
    out.multipliers[g] = static_cast<uint8_t>(best);
    const float inverse = 1 / (best * out.scale);
    for (size_t i = 0; i < n; ++i) {
      out.numbers[g * kInt4Group + i] =
          static_cast<int8_t>(Nearest(x[i], inverse));
    }
  }
}

}  // namespace espalier
