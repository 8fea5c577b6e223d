// What the scheduler costs above the model's own time: a trunk that computes
// nothing, over a vocabulary of 16. At most 5 us a request of eight tokens.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "models/cpu/trunk.h"
#include "models/schedule/trunk_backend.h"
#include "src/base/check.h"
#include "src/base/executor.h"

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
  void Rewards(const float*, int n, LevelScores* scores) override {
    std::fill(scores, scores + n, LevelScores{0.5f, 0.5f});
  }

 private:
  TrunkConfig config_;
};

class Letters : public Tokenizer {
 public:
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view,
                                              bool) const override {
    return absl::UnimplementedError("tokens only");
  }
  std::string_view TokenBytes(int32_t id) const override {
    return std::string_view("abcdefghijklmnop").substr(
        static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 16; }
};

// Requests that come and go, 128 at a time, each below a prompt of its own.
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

}  // namespace
}  // namespace espalier
