#include "models/sampling/top_sum.h"

#include <algorithm>
#include <functional>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/sampling/top_sum.cc"
#include "hwy/foreach_target.h"
// The targets' code below is compiled once per instruction set.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Logits per block.
constexpr size_t kBlock = 64;

// The first block from `i` on with a logit above `limit`; if there is none, the
// end of the last whole block.
size_t NextAboveImpl(const float* HWY_RESTRICT logits, size_t i, size_t n,
                     float limit) {
  const hn::CappedTag<float, 16> d;
  const size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, limit);
  for (; i + kBlock <= n; i += kBlock) {
    auto highest = hn::LoadU(d, logits + i);
    for (size_t at = lanes; at < kBlock; at += lanes) {
      highest = hn::Max(highest, hn::LoadU(d, logits + i + at));
    }
    if (!hn::AllFalse(d, hn::Gt(highest, least))) break;
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(NextAboveImpl);

double SumHighest(const float* logits, size_t n, size_t k) {
  // Min-heap.
  const std::greater<float> above;
  std::vector<float> highest(logits, logits + k);
  std::make_heap(highest.begin(), highest.end(), above);
  for (size_t i = k; i < n;) {
    i = HWY_DYNAMIC_DISPATCH(NextAboveImpl)(logits, i, n, highest.front());
    for (const size_t end = std::min(n, i + 64); i < end; ++i) {
      if (!(logits[i] > highest.front())) continue;
      std::pop_heap(highest.begin(), highest.end(), above);
      highest.back() = logits[i];
      std::push_heap(highest.begin(), highest.end(), above);
    }
  }
  std::sort(highest.begin(), highest.end());
  double sum = 0;
  for (const float logit : highest) sum += static_cast<double>(logit);
  return sum;
}

}  // namespace espalier
#endif  // HWY_ONCE
