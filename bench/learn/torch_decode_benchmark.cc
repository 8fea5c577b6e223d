// Tokens per second of the LibTorch trunk on Llamas with random bf16 weights:
// of 5 M parameters on the CPU, and on a GPU also of 100 M and with the shapes
// of Qwen2.5-0.5B and Llama-3.1-8B.
//
//   torch_decode_benchmark --benchmark_filter=Decode     # rows, keys each
//   torch_decode_benchmark --benchmark_filter=Branches   # 32 on one prompt
//   torch_decode_benchmark --benchmark_filter=Prefill    # one prompt
//
// GPU rows exist if LibTorch finds a GPU. decode_benchmark has the same for the
// device "cpu".
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "models/torch_executor/torch_api.h"
#include "models/torch_executor/torch_network.h"
#include "models/torch_executor/torch_trunk.h"
#include "tests/models/testing/paths.h"
#include "tests/models/testing/random_source.h"

namespace espalier {
namespace {

// The shape of Qwen2.5-0.5B, without its biases.
TrunkConfig Llama500M() {
  return {.vocab_size = 151936,
          .hidden_size = 896,
          .intermediate_size = 4864,
          .layers = 24,
          .heads = 14,
          .kv_heads = 2,
          .head_dim = 64,
          .context_length = 8192,
          .tied_embeddings = true};
}

// The shape of Llama-3.1-8B.
TrunkConfig Llama8B() {
  return {.vocab_size = 128256,
          .hidden_size = 4096,
          .intermediate_size = 14336,
          .layers = 32,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .context_length = 8192,
          .tied_embeddings = false};
}

// Matrices repeat a million values of a RandomSource: drawing each of 8 billion
// would take minutes.
class RepeatedSource : public RandomSource {
 public:
  explicit RepeatedSource(const TrunkConfig& config) : RandomSource(config) {
    const int64_t rows = (int64_t{1} << 20) / config.hidden_size;
    values_.resize(static_cast<size_t>(rows * config.hidden_size));
    RandomSource::Read(TensorRole::kEmbedding, 0, 0, rows, values_.data());
  }
  void Read(TensorRole part, int layer, int64_t begin, int64_t end,
            float* out) const override {
    const TensorShape shape = ShapeOf(config(), part);
    if (shape.columns == 1) {
      RandomSource::Read(part, layer, begin, end, out);
      return;
    }
    const int64_t size = static_cast<int64_t>(values_.size());
    int64_t from = (begin * shape.columns + int64_t{977} * layer) % size;
    for (int64_t left = (end - begin) * shape.columns; left > 0; from = 0) {
      const int64_t n = std::min(left, size - from);
      out = std::copy_n(values_.data() + from, n, out);
      left -= n;
    }
  }

 private:
  std::vector<float> values_;
};

struct NamedShape {
  std::string name;
  TrunkConfig config;
};

// The trunk last loaded is kept: a benchmark is called several times.
TorchTrunk& Load(const NamedShape& shape, at::Device device) {
  static std::string loaded;
  static std::unique_ptr<TorchTrunk> trunk;
  const std::string key = absl::StrCat(shape.name, " on ", device.str());
  if (loaded == key) return *trunk;
  trunk.reset();
  loaded = key;
  const c10::InferenceMode inference;
  trunk = std::make_unique<TorchTrunk>(
      TorchNetwork::Load(RepeatedSource(shape.config), device, at::kBFloat16),
      /*reserve_bytes=*/0);
  return *trunk;
}

void SetRate(benchmark::State& state, int tokens) {
  state.counters["tokens_per_s"] =
      benchmark::Counter(tokens, benchmark::Counter::kIsIterationInvariantRate);
}

// One token of each of `rows` paths with `keys` keys each.
void Decode(benchmark::State& state, const NamedShape& shape,
            at::Device device) {
  TorchTrunk& trunk = Load(shape, device);
  const int given = static_cast<int>(state.range(0));
  const int rows = SmokeOr(std::min(given, 2), given);
  const int position = SmokeOr(16, static_cast<int>(state.range(1)));
  Executor executor(1);
  Paths paths(trunk, rows, position, 0, position + 1, executor);
  // A GPU's first steps load kernels and reserve memory.
  for (int i = 0; i < SmokeOr(0, 3); ++i) paths.Step(position);
  for (auto _ : state) paths.Step(position);
  SetRate(state, rows);
}

// 64 tokens of each of 32 branches on one prompt of 512, including prefill.
void Branches(benchmark::State& state, const NamedShape& shape,
              at::Device device) {
  TorchTrunk& trunk = Load(shape, device);
  const bool share = state.range(0) != 0;
  const int branches = SmokeOr(2, 32);
  const int prompt = SmokeOr(16, 512), steps = SmokeOr(2, 64);
  Executor executor(1);
  const auto run = [&](int count) {
    Paths paths(trunk, branches, prompt, share ? prompt : 0, prompt + steps,
                executor);
    for (int i = 0; i < count; ++i) paths.Step(prompt + i);
  };
  run(SmokeOr(0, 2));
  for (auto _ : state) run(steps);
  SetRate(state, branches * steps);
}

// A prompt of `tokens` tokens in one pass, with the logits of its last token.
void Prefill(benchmark::State& state, const NamedShape& shape,
             at::Device device) {
  TorchTrunk& trunk = Load(shape, device);
  const int tokens = SmokeOr(16, static_cast<int>(state.range(0)));
  Executor executor(1);
  const auto memory = trunk.NewPages();
  PagePool pool(*memory, int64_t{8} << 30);
  std::vector<PageId> pages;
  for (int slot = 0; slot < tokens; slot += kPageSlots) {
    pages.push_back(pool.Allocate());
  }
  const std::vector<int32_t> prompt(static_cast<size_t>(tokens), 5);
  std::vector<float> hidden(static_cast<size_t>(trunk.config().hidden_size));
  std::vector<float> logits(static_cast<size_t>(trunk.config().vocab_size));
  const Segment segment{
      .pages = pages, .tokens = prompt, .last_hidden = hidden.data()};
  const auto run = [&] {
    trunk.Forward(absl::MakeConstSpan(&segment, 1), *memory, executor);
    trunk.Logits(hidden.data(), 1, logits.data(), executor);
  };
  for (int i = 0; i < SmokeOr(0, 2); ++i) run();
  for (auto _ : state) run();
  SetRate(state, tokens);
}

void Register(const NamedShape& shape, const DeviceName& name) {
  const auto device = FindDevice(name);
  if (!device.ok()) return;
  const std::string what =
      absl::StrCat("/", shape.name, "/", name.kind == "cuda" ? "cuda" : "cpu");
  const auto add = [&](const char* kind, auto function) {
    return benchmark::RegisterBenchmark((kind + what).c_str(), function, shape,
                                        *device)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  auto* decode = add("Decode", Decode);
  for (const int rows : {1, 8, 32, 64}) {
    decode->Args({rows, name.kind == "cuda" ? 512 : 256});
  }
  add("Branches", Branches)->ArgName("shared")->Arg(1)->Arg(0)->Iterations(1);
  add("Prefill", Prefill)->ArgName("tokens")->Arg(512)->Arg(4096);
}

const bool kRegistered = [] {
  const NamedShape small = {"5M", Llama5M()};
  Register(small, {.kind = "torch-cpu"});
  for (const NamedShape& shape :
       {small, NamedShape{"100M", Llama100M()}, NamedShape{"500M", Llama500M()},
        NamedShape{"8B", Llama8B()}}) {
    Register(shape, {.kind = "cuda"});
  }
  return true;
}();

}  // namespace
}  // namespace espalier
