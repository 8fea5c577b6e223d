// The search core's own cost: whole searches over a backend that answers at
// once, so that everything except the model is timed.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/executor.h"
#include "benchmark/benchmark.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "search/algorithm.h"
#include "search/tree/tree.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

// Nodes per second of whole searches, 32 at a time.
void Search(benchmark::State& state, const std::string& method) {
  ScriptedBackend backend({.depth = 12});
  const ByteTokenizer tokenizer;
  Executor executor(2);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 32);
  const ScriptTask task;
  const auto algorithm = MakeAlgorithm(method);
  ESP_CHECK(algorithm.ok());
  const SearchOptions options{.method = method, .max_tokens = 2000};
  const RunHooks hooks;
  std::vector<Problem> problems;
  for (int i = 0; i < 32; ++i) {
    problems.push_back({.id = absl::StrCat(i), .question = absl::StrCat(i)});
  }
  int64_t nodes = 0;
  for (auto _ : state) {
    const absl::Status status = runner.Run(
        {.problems = problems,
         .task = &task,
         .algorithm = algorithm->get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t, SearchResult r) { nodes += r.nodes; }});
    ESP_CHECK(status.ok());
  }
  state.counters["nodes"] = benchmark::Counter(static_cast<double>(nodes),
                                               benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(Search, weighted, "weighted")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Search, guided, "guided")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Search, puct, "puct")->Unit(benchmark::kMillisecond);

// One node and its duplicate.
void AddNode(benchmark::State& state) {
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6, 7, 8};
  for (auto _ : state) {
    state.PauseTiming();
    Tree tree;
    state.ResumeTiming();
    NodeId at = kRoot;
    for (int i = 0; i < 1000; ++i) {
      const StepDraft draft{.text = "b 23+48=71\n", .tokens = tokens};
      const NodeId next = tree.Add(at, draft);
      tree.Add(at, draft);
      at = next;
    }
    benchmark::DoNotOptimize(tree.size());
  }
  state.SetItemsProcessed(state.iterations() * 2000);
}
BENCHMARK(AddNode)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace espalier
