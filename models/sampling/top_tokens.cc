#include "models/sampling/top_tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace espalier {
namespace {

// Keeps sign, exponent and the first three bits of the fraction, for weights up
// to 1.
constexpr int kBucketShift = 20;
constexpr size_t kBuckets = (0x3F800000u >> kBucketShift) + 1;
size_t BucketOf(float weight) {
  return std::bit_cast<uint32_t>(weight) >> kBucketShift;
}

struct Bucket {
  int32_t count = 0;
  double mass = 0;
};
using Buckets = std::array<Bucket, kBuckets>;

struct Weighted {
  float weight;
  int32_t id;
};
// Heap order: the largest weight, then the lowest id, is on top.
bool Below(const Weighted& a, const Weighted& b) {
  return a.weight != b.weight ? a.weight < b.weight : a.id > b.id;
}

// Visits the weights, largest first, until `count` are visited or their sum
// reaches `mass`. Returns the last one visited and the sum.
WeightCut Descend(absl::Span<const float> weights, const Buckets& buckets,
                  int64_t count, double mass, double* sum) {
  *sum = 0;
  for (size_t b = kBuckets; b-- > 0;) {
    const Bucket& bucket = buckets[b];
    if (bucket.count < count && *sum + bucket.mass < mass) {
      count -= bucket.count;
      *sum += bucket.mass;
      continue;
    }
    std::vector<Weighted> heap;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (BucketOf(weights[i]) == b) {
        heap.push_back({weights[i], static_cast<int32_t>(i)});
      }
    }
    std::make_heap(heap.begin(), heap.end(), Below);
    WeightCut cut;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), Below);
      cut = {heap.back().weight, heap.back().id};
      heap.pop_back();
      *sum += static_cast<double>(cut.weight);
      if (--count <= 0 || *sum >= mass) return cut;
    }
    // Rounding: the bucket's sum reached the mass, but added singly it did not.
  }
  return {};
}

}  // namespace

WeightCut CutToTopTokens(absl::Span<const float> weights, int top_k,
                         double top_p) {
  Buckets buckets = {};
  double total = 0;
  for (const float weight : weights) {
    Bucket& bucket = buckets[BucketOf(weight)];
    ++bucket.count;
    bucket.mass += static_cast<double>(weight);
  }
  for (const Bucket& bucket : buckets) total += bucket.mass;
  const auto all = static_cast<int64_t>(weights.size());
  const int64_t count = top_k > 0 ? std::min<int64_t>(top_k, all) : all;
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  WeightCut cut;
  if (count < all) cut = Descend(weights, buckets, count, kNoLimit, &total);
  if (top_p < 1) {
    double sum;
    cut = Descend(weights, buckets, count, top_p * total, &sum);
  }
  return cut;
}

}  // namespace espalier
