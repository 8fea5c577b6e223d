// The cost of drawing one token: a row of logits, filters, a draw. Target: at
// most 15 us for a plain row of 16,384 tokens.
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/base/reference.h"
#include "benchmark/benchmark.h"
#include "models/sampling/sampler.h"

namespace espalier {
namespace {

void Draw(benchmark::State& state, const SamplingOptions& options) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<float> logits(static_cast<size_t>(state.range(0)));
  for (float& l : logits) l = static_cast<float>(3 * rng.Normal());
  const std::vector<int32_t> seen = {1, 7, 100, 1000};
  TokenDistribution d;
  float uniform = 0;
  for (auto _ : state) {
    const bool good = d.Assign(logits, options, seen).ok();
    ESP_CHECK(good);
    uniform = uniform < 0.9f ? uniform + 0.01f : 0;
    benchmark::DoNotOptimize(d.Draw(uniform));
  }
  state.counters["ns/logit"] =
      benchmark::Counter(static_cast<double>(state.range(0)) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

#define ESP_DRAW(name, ...)                                   \
  BENCHMARK_CAPTURE(Draw, name, SamplingOptions{__VA_ARGS__}) \
      ->Arg(16384)                                            \
      ->Arg(151936)                                           \
      ->Unit(benchmark::kMicrosecond)
ESP_DRAW(plain, .temperature = 1);
ESP_DRAW(temperature, .temperature = 0.7f);
ESP_DRAW(greedy, .temperature = 0);
ESP_DRAW(top_k, .top_k = 50);
ESP_DRAW(top_p, .top_p = 0.95f);
ESP_DRAW(min_p, .min_p = 0.05f);
ESP_DRAW(all, .temperature = 0.7f, .top_k = 50, .top_p = 0.9f, .min_p = 0.02f,
         .repetition_penalty = 1.1f);

void Alternatives(benchmark::State& state) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  std::vector<float> logits(16384);
  for (float& l : logits) l = static_cast<float>(3 * rng.Normal());
  TokenDistribution d;
  ESP_CHECK(d.Assign(logits, {}).ok());
  for (auto _ : state) benchmark::DoNotOptimize(d.Alternatives(20));
}
BENCHMARK(Alternatives)->Unit(benchmark::kMicrosecond);

// The model's confidence from its 20 most likely tokens: the extra cost for a
// method that requests it.
void Confidence(benchmark::State& state) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  std::vector<float> logits(static_cast<size_t>(state.range(0)));
  for (float& l : logits) l = static_cast<float>(3 * rng.Normal());
  TokenDistribution d;
  ESP_CHECK(d.Assign(logits, {}).ok());
  for (auto _ : state) benchmark::DoNotOptimize(d.Confidence(20));
}
BENCHMARK(Confidence)
    ->Arg(1000)
    ->Arg(16384)
    ->Arg(151936)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace espalier
