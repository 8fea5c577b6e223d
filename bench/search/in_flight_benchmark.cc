// The quality cost of concurrent simulations: PUCT with 96 simulations over a
// made-up world, C of them in flight, against C = 1.
//
//   answer_score  of the response found, mean over worlds; higher is better
//   loss          by how much that is below C = 1, in the same worlds
//   waits         times the search waited for a model: what C reduces
//
// In the world a step's score is its parent's plus a seeded amount between -.22
// and .08, clamped to [0, 1]: what is good now tends to stay good.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "benchmark/benchmark.h"
#include "search/algorithm.h"
#include "search/search_context.h"

namespace espalier {
namespace {

constexpr int kDepth = 8, kBranching = 4, kSimulations = 96, kWorlds = 100;

class StepTask : public Task {
 public:
  std::string_view name() const override { return "step"; }
  absl::StatusOr<std::string> Render(const Problem&) const override {
    return std::string();
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view text) const override {
    return std::string(text);
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 1};
};

float Uniform(uint64_t hash) {
  return static_cast<float>(hash >> 40) * 0x1p-24f;
}

SearchCompletion Reply(const Tree& tree, const SearchRequest& request,
                       uint64_t world) {
  SearchCompletion done{.number = request.number};
  if (request.kind == RequestKind::kEvaluate) {
    for (const NodeId id : request.nodes) {
      const NodeId parent = tree[id].parent;
      const float before =
          tree[parent].scored() ? tree.step(parent).path_score : 0.5f;
      const float moved =
          0.3f * Uniform(MixHash(tree.path_hash(id), world)) - 0.22f;
      const float score = std::clamp(before + moved, 0.0f, 1.0f);
      done.scores.push_back({score, score});
    }
    return done;
  }
  for (int i = 0; i < request.expand.n; ++i) {
    const int move = (request.first_sample + i) % kBranching;
    done.samples.push_back(
        {{.tokens = {move}},
         std::string(1, static_cast<char>('a' + move)),
         /*logprob=*/-1.4f,
         /*ended=*/tree.step(request.nodes[0]).depth + 1 == kDepth});
  }
  return done;
}

struct Found {
  float score = 0;
  int waits = 0;
};

// All requests between two waits are answered together, as by an engine with a
// large batch.
Found Search(const SearchAlgorithm& algorithm, uint64_t world) {
  static const StepTask task;
  const Problem problem{.id = "p", .question = absl::StrCat(world)};
  Stoppers stoppers =
      MakeStoppers({.max_tokens = 0, .max_simulations = kSimulations});
  SearchContext ctx(problem, task, stoppers, SearchBudget(), world);
  SearchDriver driver(ctx);
  Co<> search = algorithm.Run(ctx);
  search.Start();
  driver.Advance();
  Found found;
  while (!search.done()) {
    const auto requests = driver.TakeRequests();
    ESP_CHECK(!requests.empty() && driver.failure().ok());
    ++found.waits;
    for (const SearchRequest& request : requests) {
      driver.Put(Reply(ctx.tree(), request, world));
    }
    driver.Advance();
  }
  if (driver.best_node() != kNoNode) found.score = driver.best_score();
  return found;
}

void BM_InFlight(benchmark::State& state) {
  const std::string spec =
      absl::StrCat("puct:widen=false:choice=best:branch=", kBranching,
                   state.range(1) != 0 ? ":virtual_loss=1" : "");
  const auto one = MakeAlgorithm(spec);
  const auto many =
      MakeAlgorithm(absl::StrCat(spec, ":in_flight=", state.range(0)));
  ESP_CHECK(one.ok() && many.ok());
  double score = 0, reference = 0, waits = 0;
  for (auto _ : state) {
    score = reference = waits = 0;
    for (uint64_t world = 0; world < kWorlds; ++world) {
      const Found found = Search(**many, world);
      score += found.score / kWorlds;
      waits += static_cast<double>(found.waits) / kWorlds;
      reference += Search(**one, world).score / kWorlds;
    }
  }
  state.counters["answer_score"] = score;
  state.counters["loss"] = reference - score;
  state.counters["waits"] = waits;
}
BENCHMARK(BM_InFlight)
    ->ArgNames({"in_flight", "virtual_loss"})
    ->ArgsProduct({{1, 2, 4, 8, 16, 32, 64}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
