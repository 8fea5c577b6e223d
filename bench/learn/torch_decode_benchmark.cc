// Tokens per second of the LibTorch trunk on Llamas of 5 M and, on a GPU, 100 M
// parameters with random bf16 weights:
//
//   torch_decode_benchmark --benchmark_filter=Decode     # rows, keys each
//   torch_decode_benchmark --benchmark_filter=Branches   # 32 on one prompt
//
// GPU rows exist if LibTorch finds a GPU. decode_benchmark has the same for the
// device "cpu".
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "models/torch_executor/torch_api.h"
#include "models/torch_executor/torch_network.h"
#include "models/torch_executor/torch_trunk.h"
#include "tests/models/testing/paths.h"
#include "tests/models/testing/random_source.h"

namespace espalier {
namespace {

std::unique_ptr<TorchTrunk> Load(int millions, at::Device device) {
  const c10::InferenceMode inference;
  return std::make_unique<TorchTrunk>(
      TorchNetwork::Load(RandomSource(millions == 5 ? Llama5M() : Llama100M()),
                         device, at::kBFloat16),
      /*reserve_bytes=*/0);
}

void SetRate(benchmark::State& state, int tokens) {
  state.counters["tokens_per_s"] =
      benchmark::Counter(tokens, benchmark::Counter::kIsIterationInvariantRate);
}

// One token of each of `rows` paths with `keys` keys each.
void Decode(benchmark::State& state, int millions, at::Device device) {
  const auto trunk = Load(millions, device);
  const int given = static_cast<int>(state.range(0));
  const int rows = SmokeOr(std::min(given, 2), given);
  const int position = SmokeOr(16, static_cast<int>(state.range(1)));
  Executor executor(1);
  Paths paths(*trunk, rows, position, 0, position + 1, executor);
  for (auto _ : state) paths.Step(position);
  SetRate(state, rows);
}

// 64 tokens of each of 32 branches on one prompt of 512, including prefill.
void Branches(benchmark::State& state, int millions, at::Device device) {
  const auto trunk = Load(millions, device);
  const bool share = state.range(0) != 0;
  const int branches = SmokeOr(2, 32);
  const int prompt = SmokeOr(16, 512), steps = SmokeOr(2, 64);
  Executor executor(1);
  for (auto _ : state) {
    Paths paths(*trunk, branches, prompt, share ? prompt : 0, prompt + steps,
                executor);
    for (int i = 0; i < steps; ++i) paths.Step(prompt + i);
  }
  SetRate(state, branches * steps);
}

void Register(int millions, const DeviceName& name) {
  const auto device = FindDevice(name);
  if (!device.ok()) return;
  const std::string what =
      absl::StrCat("/", millions, "M/", name.kind == "cuda" ? "cuda" : "cpu");
  auto* decode = benchmark::RegisterBenchmark(("Decode" + what).c_str(), Decode,
                                              millions, *device);
  decode->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int rows : {1, 8, 32, 64}) decode->Args({rows, 256});
  benchmark::RegisterBenchmark(("Branches" + what).c_str(), Branches, millions,
                               *device)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond)
      ->ArgName("shared")
      ->Arg(1)
      ->Arg(0)
      ->Iterations(1);
}

const bool kRegistered = [] {
  Register(5, {.kind = "torch-cpu"});
  Register(5, {.kind = "cuda"});
  Register(100, {.kind = "cuda"});
  return true;
}();

}  // namespace
}  // namespace espalier
