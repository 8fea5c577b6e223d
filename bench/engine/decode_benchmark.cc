// Tokens a second of the model path with the shipped story model: decoding in
// batches, reading prompts, and whole searches. Floors stand beside: what the
// products alone need at the speed measured here, and what reading keys and
// values once a token needs.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "datasets/generators/stories.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "models/cpu/trunk.h"
#include "models/pages/page_pool.h"
#include "src/base/check.h"
#include "src/base/executor.h"

namespace espalier {
namespace {

std::string ModelFolder() {
  if (const char* zoo = std::getenv("ESPALIER_ZOO")) {
    return std::string(zoo) + "/stories";
  }
  for (const char* place : {"models/zoo/stories", "../models/zoo/stories"}) {
    if (std::filesystem::exists(place)) return place;
  }
  // ctest runs in the build folder, wherever that is.
  return std::filesystem::path(__FILE__).parent_path() /
         "../models/zoo/stories";
}

// `rows` paths, one token each, `position` tokens before it.
void Decode(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0));
  const int position = static_cast<int>(state.range(1));
  const auto trunk = Trunk::Load(ModelFolder());
  if (!trunk.ok()) {
    state.SkipWithError(std::string(trunk.status().message()).c_str());
    return;
  }
  const TrunkConfig& c = (*trunk)->config();
  const std::unique_ptr<PageMemory> memory = (*trunk)->NewPages();
  PagePool pool(*memory, int64_t{2} << 30);
  Executor executor(static_cast<int>(state.range(2)));
  const int pages_each = position / kPageSlots + 1;
  std::vector<std::vector<PageId>> pages(static_cast<size_t>(rows));
  const std::vector<int32_t> prompt(static_cast<size_t>(position), 5);
  const std::vector<int32_t> token = {7};
  std::vector<float> hidden(static_cast<size_t>(rows * c.hidden_size));
  std::vector<Segment> fill, step;
  for (int r = 0; r < rows; ++r) {
    auto& own = pages[static_cast<size_t>(r)];
    for (int p = 0; p < pages_each; ++p) own.push_back(pool.Allocate());
    fill.push_back({.pages = own, .start = 0, .tokens = prompt});
    step.push_back({.pages = own,
                    .start = position,
                    .tokens = token,
                    .last_hidden = hidden.data() + r * c.hidden_size});
  }
  (*trunk)->Forward(fill, *memory, executor);
  for (auto _ : state) (*trunk)->Forward(step, *memory, executor);
  state.SetItemsProcessed(state.iterations() * rows);
  const double key_value_bytes =
      8.0 * c.layers * c.kv_heads * c.head_dim * (position + 1);
  state.counters["kv_GB/s"] =
      benchmark::Counter(key_value_bytes * rows * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Decode)
    ->ArgNames({"rows", "position", "threads"})
    ->Args({1, 256, 1})
    ->Args({24, 0, 1})
    ->Args({24, 256, 1})
    ->Args({48, 256, 2})
    ->Args({128, 256, 2})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

// Whole searches on hard stories; tokens sampled a second.
void Solve(benchmark::State& state, const std::string& method) {
  const auto engine =
      Engine::Create({.policy = ModelFolder(), .threads = 2, .live = 64});
  if (!engine.ok()) {
    state.SkipWithError(std::string(engine.status().message()).c_str());
    return;
  }
  std::vector<Problem> problems;
  for (uint64_t i = 0; i < 64; ++i) {
    problems.push_back(
        MakeStory(*FindStoryBand("hard"), kFirstChoosingSeed, i).problem);
  }
  int64_t tokens = 0;
  for (auto _ : state) {
    const absl::Status status = (*engine)->SolveAll(
        problems, **FindTask("stories"), {.method = method, .max_tokens = 600},
        {}, [&](size_t, SearchResult r) { tokens += r.tokens; });
    ESP_CHECK(status.ok());
  }
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(tokens),
                                                benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(Solve, weighted, "weighted")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Solve, beam, "beam")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace espalier
