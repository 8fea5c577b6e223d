// Fixed work that no change to this project alters, timed in the same process
// as the benchmarks: tools/bench_ratios compares them with it, so that a busy
// or another machine does not look like slower code.
//
//   ReferenceHash  2^20 dependent multiplications: the core's clock
//   ReferenceSum   64 MiB read once: the memory's bandwidth
#ifndef ESPALIER_BENCH_BASE_REFERENCE_H_
#define ESPALIER_BENCH_BASE_REFERENCE_H_

#include <cstdint>
#include <numeric>
#include <vector>

#include "benchmark/benchmark.h"

namespace espalier {

inline void ReferenceHash(benchmark::State& state) {
  uint64_t hash = 1;
  for (auto _ : state) {
    for (int i = 0; i < 1 << 20; ++i) {
      hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9u;
    }
    benchmark::DoNotOptimize(hash);
  }
}
BENCHMARK(ReferenceHash)->Unit(benchmark::kMillisecond);

inline void ReferenceSum(benchmark::State& state) {
  const std::vector<uint64_t> numbers(size_t{8} << 20, 3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        std::accumulate(numbers.begin(), numbers.end(), uint64_t{0}));
  }
}
BENCHMARK(ReferenceSum)->Unit(benchmark::kMillisecond);

}  // namespace espalier

#endif  // ESPALIER_BENCH_BASE_REFERENCE_H_
