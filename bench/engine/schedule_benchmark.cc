// The engine's overhead on top of the model's time: a trunk that computes
// nothing, over a vocabulary of 16. Target: at most 5 us per request of eight
// tokens.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/executor.h"
#include "bench/base/reference.h"
#include "benchmark/benchmark.h"
#include "models/schedule/trunk_backend.h"
#include "models/trunk/trunk.h"
#include "search/algorithm.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

class NoPages : public PageMemory {
 public:
  int64_t page_bytes() const override { return 4096; }
  void Grow(int) override {}
  void CopyPrefix(PageId, PageId, int) override {}
};

// All tokens are equally likely; none of them ends a text.
class NullTrunk : public Trunk {
 public:
  NullTrunk() {
    config_.vocab_size = 16;
    config_.hidden_size = 4;
    config_.layers = config_.heads = config_.kv_heads = 1;
    config_.head_dim = 4;
    config_.context_length = 4096;
    config_.reward_head = true;
  }
  const TrunkConfig& config() const override { return config_; }
  std::unique_ptr<PageMemory> NewPages() const override {
    return std::make_unique<NoPages>();
  }
  void Forward(absl::Span<const Segment>, PageMemory&, Executor&) override {}
  void Logits(const float*, int n, float* logits, Executor&) override {
    std::fill(logits, logits + n * 16, 0.0f);
  }
  void Head(const float*, int n, float* out) override {
    std::fill(out, out + n, 0.0f);
  }
  void Rewards(const float*, int n, StepScores* scores) override {
    std::fill(scores, scores + n, StepScores{0.5f, 0.5f});
  }

 private:
  TrunkConfig config_;
};

class Letters : public Tokenizer {
 public:
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    return std::vector<int32_t>(text.begin(), text.end());
  }
  std::string_view TokenBytes(int32_t id) const override {
    return std::string_view("abcdefghijklmnop")
        .substr(static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 16; }
};

// A stream of requests, 128 at a time, each below its own prompt.
void Requests(benchmark::State& state) {
  NullTrunk trunk;
  const Letters letters;
  Executor executor(1);
  TrunkBackend backend(trunk, letters, executor, {.kv_bytes = 1 << 22});
  std::vector<SeqId> prompts;
  for (int i = 0; i < 16; ++i) {
    prompts.push_back(
        backend.Extend(kEmptySeq, std::vector<int32_t>(100 + i, i)));
  }
  const int tokens = static_cast<int>(state.range(0));
  RequestId next = 0;
  const auto submit = [&] {
    GenerateRequest g{.from = prompts[next % 16]};
    g.stop.max_tokens = tokens;
    g.stream.lo = next;
    backend.Submit({next++, std::move(g)});
  };
  for (int i = 0; i < 128; ++i) submit();
  std::vector<Completion> done;
  int64_t requests = 0;
  for (auto _ : state) {
    done.clear();
    backend.Step(done);
    for (const Completion& c : done) {
      ESP_CHECK(c.status.ok());
      for (const Continuation& k : c.continuations) backend.Release(k.seq);
      submit();
    }
    requests += static_cast<int64_t>(done.size());
  }
  state.counters["us/request"] = benchmark::Counter(
      static_cast<double>(requests) * 1e-6,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["us/token"] = benchmark::Counter(
      static_cast<double>(requests * tokens) * 1e-6,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Requests)->ArgName("tokens")->Arg(1)->Arg(8)->Arg(64);

class EightTokens : public Task {
 public:
  std::string_view name() const override { return "eight"; }
  absl::StatusOr<std::string> Render(const Problem& p) const override {
    return p.question;
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view) const override {
    return std::nullopt;
  }
  bool SameAnswer(std::string_view, std::string_view) const override {
    return false;
  }

 private:
  // Steps end at one of the sixteen letters or after eight tokens.
  const StepFormat format_{.delimiter = "p",
                           .max_step_tokens = 8,
                           .max_steps = 1000,
                           .segments = true};
};

// Same with the whole engine: 16 searches of eight requests each.
void Searches(benchmark::State& state, const std::string& method) {
  NullTrunk trunk;
  const Letters letters;
  Executor executor(1);
  TrunkBackend backend(trunk, letters, executor, {.kv_bytes = 1 << 26});
  Runner runner({&backend, &letters, &backend, &letters}, executor, 16);
  const EightTokens task;
  const auto algorithm = MakeAlgorithm(method);
  ESP_CHECK(algorithm.ok());
  const SearchOptions options{.max_tokens = 4000};
  const RunHooks hooks;
  std::vector<Problem> problems;
  for (int i = 0; i < 16; ++i) {
    problems.push_back(
        {.id = absl::StrCat(i),
         .question = std::string(100, static_cast<char>(i % 16))});
  }
  int64_t requests = 0, tokens = 0;
  for (auto _ : state) {
    const absl::Status status =
        runner.Run({.problems = problems,
                    .task = &task,
                    .algorithm = algorithm->get(),
                    .options = &options,
                    .hooks = &hooks,
                    .on_done = [&](size_t, SearchResult r) {
                      requests += r.model_calls;
                      tokens += r.tokens;
                    }});
    ESP_CHECK(status.ok());
  }
  state.counters["us/request"] = benchmark::Counter(
      static_cast<double>(requests) * 1e-6,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["tokens/request"] =
      static_cast<double>(tokens) / static_cast<double>(requests);
}
BENCHMARK_CAPTURE(Searches, particle, "particle")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Searches, best_first, "best_first:in_flight=8:branch=2")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
