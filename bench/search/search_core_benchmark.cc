// The search core's own cost: the real coroutines over a policy that answers
// inline, so that everything except the model is timed.
//
//   sims_per_s      simulations per second, whole searches with their tree
//   steps_per_s     steps sampled per second (BM_EveryMethod): docs/methods.md
//                   has the cost of each
//   nodes_per_s     nodes created per second
//   bytes_per_node  of the tree with text, tokens and frames, including the up
//                   to half more that a growing array may hold unused
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "bench/base/reference.h"
#include "benchmark/benchmark.h"
#include "search/algorithm.h"
#include "search/search_context.h"

namespace espalier {
namespace {

constexpr int kDepth = 12;

class LineTask : public Task {
 public:
  std::string_view name() const override { return "line"; }
  absl::StatusOr<std::string> Render(const Problem&) const override {
    return std::string();
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view text) const override {
    return std::string(text.substr(text.size() - 3));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 1};
};

// `branching` moves at every node, in turn; responses end after kDepth steps.
// Log-probs and scores are hashes of the path.
class HashPolicy : public InlineModel {
 public:
  explicit HashPolicy(int branching) : branching_(branching) {}

  void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
              int first_sample, Expansion& out) override {
    const uint64_t hash = ctx.tree().path_hash(node);
    const bool last = ctx.tree().step(node).depth + 1 == kDepth;
    for (int i = 0; i < options.n; ++i) {
      const int32_t move = (first_sample + i) % branching_;
      const char text[3] = {'s', static_cast<char>('a' + move), '\n'};
      const uint64_t chance = MixHash(hash, static_cast<uint64_t>(move));
      const float sure = static_cast<float>(chance >> 40) * 0x1p-24f;
      out.samples.push_back(ctx.AddSample(
          node, {.text = std::string_view(text, 3),
                 .tokens = absl::MakeConstSpan(&move, 1),
                 .logprob = -2 * sure,
                 .terminal = last,
                 .confidences = absl::MakeConstSpan(
                     &sure, options.top_logprobs > 0 ? 1u : 0u)}));
    }
  }
  StepScores Evaluate(const Tree& tree, NodeId node) override {
    const float score =
        static_cast<float>(MixHash(tree.path_hash(node), 7) >> 40) * 0x1p-24f;
    return {score, score};
  }
  // One response in 64 is correct.
  bool Verify(const Tree& tree, NodeId node) override {
    return MixHash(tree.path_hash(node), 9) % 64 == 0;
  }

 private:
  const int branching_;
};

struct Totals {
  int64_t simulations = 0, nodes = 0, bytes = 0, steps = 0;
};

Totals RunOnce(const SearchAlgorithm& algorithm, int branching,
               const SearchOptions& options) {
  static const LineTask task;
  const uint64_t seed = options.seed;
  const Problem problem{.id = "p", .question = absl::StrCat(seed)};
  HashPolicy policy(branching);
  Stoppers stoppers = MakeStoppers(options);
  SearchContext ctx(problem, task, stoppers, SearchBudget(), seed, &policy);
  SearchDriver driver(ctx);
  Co<> search = algorithm.Run(ctx);
  search.Start();
  ESP_CHECK(search.done() && driver.failure().ok());
  ESP_CHECK(driver.TakeRequests().empty());
  return {ctx.usage().simulations, ctx.usage().nodes,
          ctx.tree().used_bytes() * 3 / 2 + ctx.frames().bytes(),
          ctx.usage().tokens};
}

void Report(benchmark::State& state, const Totals& totals) {
  using benchmark::Counter;
  state.counters["sims_per_s"] =
      Counter(static_cast<double>(totals.simulations), Counter::kIsRate);
  state.counters["nodes_per_s"] =
      Counter(static_cast<double>(totals.nodes), Counter::kIsRate);
  state.counters["bytes_per_node"] =
      static_cast<double>(totals.bytes) / static_cast<double>(totals.nodes);
}

// `threads` concurrent searches of `sims` simulations each. The branching is
// appended to `method`.
void Run(benchmark::State& state, const std::string& method, int threads) {
  const int64_t simulations = state.range(0);
  const int branching = static_cast<int>(state.range(1));
  const auto algorithm = MakeAlgorithm(absl::StrCat(method, branching));
  ESP_CHECK(algorithm.ok());
  const auto run = [&](uint64_t seed) {
    return RunOnce(
        **algorithm, branching,
        {.max_tokens = 0, .max_simulations = simulations, .seed = seed});
  };
  Totals totals;
  uint64_t seed = 0;
  for (auto _ : state) {
    std::vector<Totals> parts(static_cast<size_t>(threads));
    std::vector<std::thread> others;
    for (size_t t = 1; t < parts.size(); ++t) {
      others.emplace_back([&, t] { parts[t] = run(seed + t); });
    }
    parts[0] = run(seed);
    for (std::thread& other : others) other.join();
    seed += parts.size();
    for (const Totals& part : parts) {
      totals.simulations += part.simulations;
      totals.nodes += part.nodes;
      totals.bytes += part.bytes;
    }
  }
  Report(state, totals);
}

constexpr char kPuct[] = "puct:descend=false:widen=false:branch=";

void BM_Puct(benchmark::State& state) { Run(state, kPuct, 1); }
void BM_PuctTwoTrees(benchmark::State& state) { Run(state, kPuct, 2); }
void BM_PuctShared(benchmark::State& state) {
  Run(state, "puct:descend=false:widen=false:share=step_set:branch=", 1);
}
void BM_Uct(benchmark::State& state) {
  Run(state, "uct:descend=false:widen=false:branch=", 1);
}
void BM_MctsStar(benchmark::State& state) {
  Run(state, "mcts_star:gate=2:branch=", 1);
}
void BM_TdMcts(benchmark::State& state) { Run(state, "td_mcts:branch=", 1); }
void BM_Gumbel(benchmark::State& state) {
  Run(state,
      absl::StrCat("gumbel:descend=false:simulations=", state.range(0),
                   ":branch="),
      1);
}
void BM_Frontier(benchmark::State& state) { Run(state, "frontier:width=", 1); }
void BM_BestFirst(benchmark::State& state) {
  Run(state, "best_first:branch=", 1);
}
void BM_AStar(benchmark::State& state) { Run(state, "astar:branch=", 1); }
// Each generated child is one step: only the policy uses `branching`.
void BM_AbMctsA(benchmark::State& state) {
  Run(state, "ab_mcts_a:unit=step:patience=", 1);
}
void BM_AbMctsM(benchmark::State& state) {
  Run(state, "ab_mcts_m:unit=step:sweeps=20:patience=", 1);
}

// One method with its defaults, until 20,000 steps were sampled.
void RunMethod(benchmark::State& state, const AlgorithmInfo& info) {
  const auto algorithm = info.make({});
  ESP_CHECK(algorithm.ok());
  int64_t steps = 0;
  uint64_t seed = 0;
  for (auto _ : state) {
    steps +=
        RunOnce(**algorithm, 4, {.max_tokens = 20000, .seed = seed++}).steps;
  }
  state.counters["steps_per_s"] = benchmark::Counter(
      static_cast<double>(steps), benchmark::Counter::kIsRate);
  state.SetLabel(info.name);
}

void RegisterEveryMethod() {
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    benchmark::RegisterBenchmark(
        absl::StrCat("BM_EveryMethod/", info->name).c_str(),
        [info](benchmark::State& state) { RunMethod(state, *info); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

void Shape(benchmark::internal::Benchmark* b) {
  b->ArgNames({"sims", "branching"})->Unit(benchmark::kMillisecond);
  b->UseRealTime();
}
void Sizes(benchmark::internal::Benchmark* b) {
  Shape(b);
  for (const int branching : {4, 7, 30}) b->Args({8000, branching});
}
// Same at eight times the size: any cost beyond eight times is superlinear.
void Growth(benchmark::internal::Benchmark* b) {
  Sizes(b);
  b->Args({64000, 4});
}
BENCHMARK(BM_Puct)->Apply(Growth)->Args({1000000, 4});
BENCHMARK(BM_PuctTwoTrees)->Apply(Shape)->Args({8000, 4});
BENCHMARK(BM_PuctShared)->Apply(Growth);
BENCHMARK(BM_Uct)->Apply(Growth);
BENCHMARK(BM_MctsStar)->Apply(Growth);
BENCHMARK(BM_TdMcts)->Apply(Growth);
BENCHMARK(BM_Gumbel)->Apply(Growth);
BENCHMARK(BM_Frontier)->Apply(Growth);
BENCHMARK(BM_BestFirst)->Apply(Growth);
BENCHMARK(BM_AStar)->Apply(Growth);
BENCHMARK(BM_AbMctsA)->Apply(Growth);
BENCHMARK(BM_AbMctsM)
    ->Apply(Shape)
    ->Args({200, 4})
    ->Args({200, 7})
    ->Args({200, 30})
    ->Args({1600, 4});

}  // namespace

// The registry is complete only now.
int Main(int argc, char** argv) {
  RegisterEveryMethod();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace espalier

int main(int argc, char** argv) { return espalier::Main(argc, argv); }
