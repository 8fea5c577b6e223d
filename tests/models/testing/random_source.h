// A checkpoint with random weights in memory, for benchmarks: real shapes,
// meaningless values.
#ifndef ESPALIER_TESTS_MODELS_TESTING_RANDOM_SOURCE_H_
#define ESPALIER_TESTS_MODELS_TESTING_RANDOM_SOURCE_H_

#include <cstdint>

#include "base/bfloat16.h"
#include "base/random.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

class RandomSource : public TensorSource {
 public:
  explicit RandomSource(const TrunkConfig& config) : config_(config) {}

  const TrunkConfig& config() const override { return config_; }
  Storage storage(TensorRole, int) const override { return Storage::kBf16; }
  void Read(TensorRole part, int layer, int64_t begin, int64_t end,
            float* out) const override {
    const TensorShape shape = ShapeOf(config_, part);
    const uint64_t key =
        MixHash(static_cast<uint64_t>(part), static_cast<uint64_t>(layer));
    for (int64_t i = begin * shape.columns; i < end * shape.columns; ++i) {
      // Norms near 1; matrices small, of either sign.
      const float u =
          static_cast<float>(MixHash(key, static_cast<uint64_t>(i)) >> 40) /
          static_cast<float>(1 << 24);
      const float value =
          shape.columns == 1 ? 0.9f + 0.2f * u : 0.08f * (u - 0.5f);
      *out++ = Bf16ToFloat(FloatToBf16(value));
    }
  }
  void Release(TensorRole, int) const override {}
  int64_t bytes() const override { return 0; }

 private:
  TrunkConfig config_;
};

// Llamas of about 5 and 100 million parameters.
inline TrunkConfig Llama5M() {
  return {.vocab_size = 4096,
          .hidden_size = 256,
          .intermediate_size = 688,
          .layers = 5,
          .heads = 4,
          .kv_heads = 4,
          .head_dim = 64,
          .context_length = 4096};
}

inline TrunkConfig Llama100M() {
  return {.vocab_size = 16384,
          .hidden_size = 768,
          .intermediate_size = 2048,
          .layers = 12,
          .heads = 12,
          .kv_heads = 4,
          .head_dim = 64,
          .context_length = 4096};
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_RANDOM_SOURCE_H_
