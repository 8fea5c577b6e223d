// A net and data for trainings that take a fraction of a second.
#ifndef ESPALIER_TESTS_LEARN_TINY_NET_H_
#define ESPALIER_TESTS_LEARN_TINY_NET_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/packer.h"
#include "src/learn/trainer.h"

namespace espalier {

inline constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

inline TrunkConfig TinyNetConfig() {
  return {.vocab_size = 32,
          .hidden_size = 64,
          .intermediate_size = 96,
          .layers = 2,
          .heads = 2,
          .kv_heads = 1,
          .head_dim = 32,
          .context_length = 128,
          .reward_head = true};
}

inline std::unique_ptr<net::LlamaNet> TinyNet(
    net::Precision precision = net::Precision::kBf16, uint64_t seed = 1) {
  return net::LlamaNet::Create(TinyNetConfig(), seed, precision).value();
}

inline TrainerOptions TinyOptions() {
  return {.learning_rate = 1e-2,
          .warmup_steps = 5,
          .total_steps = 60,
          .threads = 2,
          .micro_batch_tokens = 100};
}

// Walks of +1 over 0..15 from a random start, some with a jump; the step label
// says whether the last move was +1, the path label whether all were.
inline std::vector<TrainSequence> Walks(int count, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<TrainSequence> out;
  for (int i = 0; i < count; ++i) {
    TrainSequence s;
    const int n = rng.Range(8, 30);
    bool all = true;
    int at = rng.Range(0, 15);
    for (int t = 0; t < n; ++t) {
      const bool jump = t > 0 && rng.Uniform() < 0.1f;
      if (t > 0) at = (at + (jump ? rng.Range(2, 15) : 1)) % 16;
      all = all && !jump;
      s.tokens.push_back(at);
      s.lm_weight.push_back(jump ? 0 : 1);
      s.labels[Level::kStep].push_back(t == 0 ? kNone : !jump);
      s.labels[Level::kPath].push_back(t == 0 ? kNone : all);
    }
    out.push_back(s);
  }
  return out;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_LEARN_TINY_NET_H_
