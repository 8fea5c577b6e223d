// Tokens per second of whole searches with the shipped story model.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "espalier/search_result.h"

namespace espalier {
namespace {

// Relative to the project's root, or ESPALIER_ZOO if set.
std::string ModelFolder() {
  const char* const zoo = std::getenv("ESPALIER_ZOO");
  return std::string(zoo != nullptr ? zoo : "models/zoo") + "/stories";
}

// Whole searches on hard stories; tokens sampled per second.
void Solve(benchmark::State& state, const std::string& method) {
  const auto engine =
      Engine::Create({.policy = ModelFolder(), .threads = 2, .live = 64});
  ESP_CHECK_OK(engine.status());
  std::vector<Problem> problems;
  for (uint64_t i = 0; i < SmokeOr(4u, 64u); ++i) {
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
BENCHMARK_CAPTURE(Solve, guided, "guided")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace espalier
