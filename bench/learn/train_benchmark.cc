// Tokens per second of training at the shipped models' size, one thread.
//
//   train_benchmark --benchmark_filter=Sft     # compare: bench/learn/peer.py
//   train_benchmark --benchmark_filter=Tree    # shared prefixes, off and on
//
// Counters: items_per_second counts the tokens of all sequences, whether or
// not several share them; `computed` is the share that was computed.
#include <benchmark/benchmark.h>

#include <limits>

#include "base/random.h"
#include "bench/base/smoke.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/objective.h"
#include "src/learn/trainer.h"

namespace espalier {
namespace {

const int kStepTokens = SmokeOr(512, 8192);

// Shape of the models in models/zoo.
TrunkConfig ShippedConfig() {
  return {.vocab_size = 512,
          .hidden_size = 128,
          .intermediate_size = 352,
          .layers = 6,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 32,
          .context_length = 2048,
          .reward_head = true,
          .end_token = 511};
}

void Extend(GroupSequence& g, RandomStream& rng, int n) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < n; ++i) {
    g.sequence.tokens.push_back(rng.Range(0, 511));
    g.sequence.lm_weight.push_back(1);
    g.sequence.labels[Level::kStep].push_back(none);
    g.sequence.labels[Level::kPath].push_back(none);
  }
}

// Sequences of 96 to 255 tokens, at least 8192 tokens in total.
std::vector<SequenceGroup> Sequences() {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTrain));
  std::vector<SequenceGroup> groups;
  int tokens = 0;
  for (int i = 0; tokens < kStepTokens; ++i) {
    const int n = 96 + i * 37 % 160;
    Extend(groups.emplace_back().emplace_back(), rng, n);
    tokens += n;
  }
  return groups;
}

// The paths of search trees: a prompt of `prompt` tokens, then `depth` steps of
// `step` tokens with `branches` choices each.
std::vector<SequenceGroup> Trees(int prompt, int depth, int branches,
                                 int step) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTrain));
  std::vector<SequenceGroup> groups;
  size_t tokens = 0;
  while (tokens < static_cast<size_t>(kStepTokens)) {
    std::vector<GroupSequence> paths(1);
    Extend(paths[0], rng, prompt);
    for (int level = 0; level < depth; ++level) {
      std::vector<GroupSequence> next;
      for (const GroupSequence& path : paths) {
        for (int b = 0; b < branches; ++b) {
          Extend(next.emplace_back(path), rng, step);
        }
      }
      paths = std::move(next);
    }
    for (GroupSequence& path : paths) {
      tokens += path.sequence.tokens.size();
      groups.push_back({std::move(path)});
    }
  }
  return groups;
}

void Run(benchmark::State& state, const std::vector<SequenceGroup>& groups,
         bool share) {
  const auto net = net::LlamaNet::Create(ShippedConfig(), 1);
  if (!net.ok()) return state.SkipWithError("no net");
  Trainer trainer(**net, {.threads = 1, .share_prefixes = share});
  const auto objective = MakeObjective("sft");
  int64_t tokens = 0, computed = 0;
  for (auto _ : state) {
    const auto m = trainer.StepObjective(**objective, groups);
    if (!m.ok()) return state.SkipWithError("the step failed");
    tokens += m->tokens;
    computed += m->computed_tokens;
  }
  state.SetItemsProcessed(tokens);
  state.counters["computed"] =
      static_cast<double>(computed) / static_cast<double>(tokens);
}

void Sft(benchmark::State& state) { Run(state, Sequences(), false); }
BENCHMARK(Sft)->Unit(benchmark::kMillisecond);

// Half of the paths' tokens are computed elsewhere, too: computed = 0.5.
void TreeOfSteps(benchmark::State& state) {
  Run(state, Trees(32, 3, 2, 48), state.range(0) != 0);
}
BENCHMARK(TreeOfSteps)
    ->ArgName("share")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

// Half of the tree's own tokens, the prompt, are shared by all responses.
void ResponsesToOnePrompt(benchmark::State& state) {
  const auto responses = static_cast<int>(state.range(0));
  Run(state, Trees(64 * responses, 1, responses, 64), state.range(1) != 0);
}
BENCHMARK(ResponsesToOnePrompt)
    ->ArgNames({"responses", "share"})
    ->ArgsProduct({{4, 8}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
