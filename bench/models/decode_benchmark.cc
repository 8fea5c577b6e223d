// Tokens per second of the model path on Llamas of 5 M and 100 M parameters
// with random weights: decoding in batches, branches on one prompt, prefill.
//
// Counters:
//   tokens_per_s     as seen by a user
//   gemm_share       of the time: the same pass with hardly any keys to attend
//                    to, so everything except attention
//   attention_share  the rest
//   weight_GB/s      bytes of packed weights, read once per step
//   kv_GB/s          bytes of keys and values, each row's path read once
//   Gop/s            multiplications and additions of the products
//   floor_share      of the time: what reading weights and keys once at the
//                    bandwidth measured here would take
//
// With ESPALIER_PEER_BENCH also rows against another engine: peer_rows.h. In a
// smoke run the small model replaces the large one, with fewer tokens.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/huge_memory.h"
#include "bench/base/reference.h"
#include "bench/base/smoke.h"
#include "bench/models/peer_rows.h"
#include "benchmark/benchmark.h"
#include "models/kernel_executor/kernel_trunk.h"
#include "models/kernels/choose_kernels.h"
#include "tests/models/testing/paths.h"
#include "tests/models/testing/random_source.h"

namespace espalier {
namespace {

// The model under test, kept between benchmarks because packing takes long.
struct Model {
  Model(const TrunkConfig& config, WeightKind kind)
      : trunk(Network::Pack(RandomSource(config), Path(), kind), Path()) {}
  static const KernelPath& Path() {
    return *ChooseKernels("", WeightKind::kBf16, 64).value();
  }
  KernelTrunk trunk;
};

Model& Get(int millions, WeightKind kind) {
  if (Smoke()) millions = 5;
  static std::unique_ptr<Model> held;
  static int held_millions = 0;
  static WeightKind held_kind;
  if (!held || held_millions != millions || held_kind != kind) {
    held.reset();
    held =
        std::make_unique<Model>(millions == 5 ? Llama5M() : Llama100M(), kind);
    held_millions = millions;
    held_kind = kind;
  }
  return *held;
}

// Bytes per second at which one thread reads memory far larger than its caches,
// best of a few passes.
double ReadBandwidth() {
  static const double best = [] {
    const HugeMemory huge(SmokeOr<size_t>(16, 256) << 20);
    uint64_t* const memory = reinterpret_cast<uint64_t*>(huge.data());
    const size_t count = huge.bytes() / 8;
    std::fill_n(memory, count, 1);
    double rate = 0;
    for (int pass = 0; pass < 5; ++pass) {
      const double start = Seconds();
      uint64_t sums[8] = {};
      for (size_t i = 0; i < count; i += 8) {
        for (size_t j = 0; j < 8; ++j) sums[j] += memory[i + j];
      }
      benchmark::DoNotOptimize(sums);
      rate =
          std::max(rate, static_cast<double>(count * 8) / (Seconds() - start));
    }
    return rate;
  }();
  return best;
}

double ProductOperations(const TrunkConfig& c) {
  const double d = c.hidden_size, h = c.head_dim;
  return 2 * (c.layers * (d * h * (c.heads + 2 * c.kv_heads) + d * h * c.heads +
                          3 * d * c.intermediate_size) +
              d * c.vocab_size);
}

void Decode(benchmark::State& state, int millions, WeightKind kind) {
  const int rows = static_cast<int>(state.range(0));
  const int position = SmokeOr(16, static_cast<int>(state.range(1)));
  Executor executor(static_cast<int>(state.range(2)));
  KernelTrunk& trunk = Get(millions, kind).trunk;
  const TrunkConfig& c = trunk.config();
  Paths paths(trunk, rows, position, 0, position + 1, executor);
  for (auto _ : state) paths.Step(position);
  const double all = StepSeconds(paths, position, 5);
  Paths empty(trunk, rows, 0, 0, 1, executor);
  const double bare = StepSeconds(empty, 0, 5);
  const double weights = static_cast<double>(trunk.network().bytes);
  const double kv = static_cast<double>(rows) * paths.memory().page_bytes() /
                    kPageSlots * (position + 1);
  const auto rate = [&](double n) {
    return benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["tokens_per_s"] = rate(rows);
  state.counters["weight_GB/s"] = rate(weights * 1e-9);
  state.counters["kv_GB/s"] = rate(kv * 1e-9);
  state.counters["Gop/s"] = rate(ProductOperations(c) * rows * 1e-9);
  state.counters["gemm_share"] = bare / all;
  state.counters["attention_share"] = 1 - bare / all;
  state.counters["floor_share"] = (weights + kv) / ReadBandwidth() / all /
                                  static_cast<double>(state.range(2));
  state.counters["read_GB/s"] = ReadBandwidth() * 1e-9;
}

// 64 tokens of each of 32 branches on one prompt of 512, including prefill.
void Branches(benchmark::State& state, WeightKind kind, bool share) {
  Executor executor(1);
  KernelTrunk& trunk = Get(100, kind).trunk;
  const int prompt = SmokeOr(64, 512), steps = SmokeOr(4, 64);
  int64_t read = 0;
  for (auto _ : state) {
    Paths paths(trunk, 32, prompt, share ? prompt : 0, prompt + steps,
                executor);
    const int64_t before = trunk.kv_bytes_read(paths.memory());
    for (int i = 0; i < steps; ++i) paths.Step(prompt + i);
    read = trunk.kv_bytes_read(paths.memory()) - before;
  }
  state.counters["kv_MB_a_step"] = static_cast<double>(read) / steps / 1e6;
  state.counters["tokens_per_s"] = benchmark::Counter(
      32 * steps, benchmark::Counter::kIsIterationInvariantRate);
}

void Prefill(benchmark::State& state, WeightKind kind) {
  const int tokens = SmokeOr(128, static_cast<int>(state.range(0)));
  Executor executor(static_cast<int>(state.range(1)));
  KernelTrunk& trunk = Get(100, kind).trunk;
  for (auto _ : state) Paths(trunk, 1, tokens, 0, tokens, executor);
  state.counters["tokens_per_s"] =
      benchmark::Counter(tokens, benchmark::Counter::kIsIterationInvariantRate);
}

void DecodeShapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "position", "threads"});
  for (const int threads : {1, 2}) {
    for (const int rows : {1, 8, 32, 64}) b->Args({rows, 256, threads});
  }
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK_CAPTURE(Decode, llama_5m_bf16, 5, WeightKind::kBf16)
    ->Apply(DecodeShapes);
BENCHMARK_CAPTURE(Decode, llama_100m_bf16, 100, WeightKind::kBf16)
    ->Apply(DecodeShapes);
BENCHMARK_CAPTURE(Branches, llama_100m_bf16, WeightKind::kBf16, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Branches, llama_100m_bf16_copied, WeightKind::kBf16, false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(Prefill, llama_100m_bf16, WeightKind::kBf16)
    ->ArgNames({"tokens", "threads"})
    ->Args({512, 1})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Decode, llama_100m_int8, 100, WeightKind::kInt8)
    ->Apply(DecodeShapes);
BENCHMARK_CAPTURE(Branches, llama_100m_int8, WeightKind::kInt8, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Prefill, llama_100m_int8, WeightKind::kInt8)
    ->ArgNames({"tokens", "threads"})
    ->Args({512, 1})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

BENCHMARK_CAPTURE(Decode, llama_100m_int4, 100, WeightKind::kInt4)
    ->Apply(DecodeShapes);
BENCHMARK_CAPTURE(Branches, llama_100m_int4, WeightKind::kInt4, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Prefill, llama_100m_int4, WeightKind::kInt4)
    ->ArgNames({"tokens", "threads"})
    ->Args({512, 1})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

[[maybe_unused]] const bool kPeerRows = RegisterPeerRows();

}  // namespace
}  // namespace espalier
