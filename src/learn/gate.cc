#include "src/learn/gate.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "base/check.h"

namespace espalier {
namespace {

// P(X >= k) for X ~ Bin(n, 1/2).
double UpperTail(int64_t k, int64_t n) {
  double sum = 0;
  for (int64_t i = k; i <= n; ++i) {
    const auto x = static_cast<double>(i), m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) -
                    std::lgamma(m - x + 1) - m * std::log(2.0));
  }
  return std::fmin(1.0, sum);
}

}  // namespace

GateVerdict CompareOneSided(const std::vector<bool>& after,
                            const std::vector<bool>& before, double alpha) {
  ESP_CHECK(after.size() == before.size() && !after.empty());
  GateVerdict v{.n = static_cast<int64_t>(after.size())};
  for (size_t i = 0; i < after.size(); ++i) {
    v.right_before += before[i];
    v.right_after += after[i];
    v.gained += after[i] && !before[i];
    v.lost += before[i] && !after[i];
  }
  v.p_value = UpperTail(v.gained, v.gained + v.lost);
  v.promote = v.gained > v.lost && v.p_value < alpha;
  const auto percent = [&](int64_t right) {
    return 100.0 * static_cast<double>(right) / static_cast<double>(v.n);
  };
  v.reason = absl::StrFormat(
      "%s: %.1f %% right, before %.1f %% (%d problems; %d gained, %d lost, "
      "p = %.2g, wanted below %.2g)",
      v.promote ? "promoted" : "kept the old model", percent(v.right_after),
      percent(v.right_before), v.n, v.gained, v.lost, v.p_value, alpha);
  return v;
}

}  // namespace espalier
