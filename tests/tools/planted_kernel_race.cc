// Two products write the same rows at the same time. Kernels are not
// instrumented for ThreadSanitizer (models/kernels/thread_checks.h): this race
// is reported only if their callers name what they write.
#include <cstdio>
#include <thread>
#include <vector>

#include "models/kernels/kernels.h"

int main() {
  const int n = 64, k = 32;
  const espalier::PackedMatrix w(n, k, espalier::WeightKind::kBf16,
                                 [](int, int count, float* out) {
                                   for (int i = 0; i < count * k; ++i) {
                                     out[i] = 1;
                                   }
                                 });
  const std::vector<float> x(static_cast<size_t>(k), 1);
  std::vector<float> y(static_cast<size_t>(n));
  const auto product = [&] {
    for (int i = 0; i < 1000; ++i) {
      espalier::MatMul(x.data(), x.size(), 1, w, 0, n, y.data(), y.size());
    }
  };
  std::thread other(product);
  product();
  other.join();
  std::printf("sum %g\n", static_cast<double>(y[0]));
  return 0;
}
