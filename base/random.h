// Counter-based random streams (Philox4x32-10, Salmon et al. 2011).
//
// Every draw in Espalier is a pure function of a key and a position, so the
// same seed gives the same draws, independent of threads, batches and order of
// arrival. A stream's key says what it is for:
//
//   RandomStream rng(StreamKey(seed, problem_hash, node, Purpose::kSample, i));
//   float u = rng.Uniform();
//
// Thread-compatible; copying a stream copies its position.
#ifndef ESPALIER_BASE_RANDOM_H_
#define ESPALIER_BASE_RANDOM_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier {

// The Philox4x32-10 block function.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

// What a stream's draws are for; streams of different purposes are
// independent. Values are part of recorded runs: append, never renumber.
enum class Purpose : uint32_t {
  kSample = 1,    // tokens of a sampled continuation
  kSelect = 2,    // choices of a search algorithm
  kGenerate = 3,  // problem generators
  kTrain = 4,     // data order, initialisation
  kTest = 5,
  kBootstrap = 6,
  kVerdict = 7,  // tokens of a reward model's written verdict
};

// The 128-bit key of a stream.
struct StreamKey {
  uint64_t hi = 0;
  uint64_t lo = 0;

  StreamKey() = default;
  StreamKey(uint64_t seed, uint64_t problem, uint64_t node, Purpose purpose,
            uint64_t index = 0);
  bool operator==(const StreamKey&) const = default;
};

// The splitmix64 finaliser.
inline uint64_t FinaliseHash(uint64_t h) {
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ h >> 27) * 0x94D049BB133111EBull;
  return h ^ h >> 31;
}
// FNV-1a followed by a finaliser; stable across runs and machines.
inline uint64_t StableHash(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325ull;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001B3ull;
  return FinaliseHash(h);
}
// Mixes two words into one.
inline uint64_t MixHash(uint64_t a, uint64_t b) {
  return FinaliseHash(a + 0x9E3779B97F4A7C15ull + FinaliseHash(b));
}

// Recorded draws of another program, returned in order: tests feed them to a
// search to compare its choices with that program's. Values are in [0, 1), or,
// for draws from another distribution whose code checks `recorded`, the drawn
// value itself.
struct RecordedDraws {
  std::vector<double> values;
  size_t next = 0;
  double Take();  // 0 beyond the end
};

class RandomStream {
 public:
  explicit RandomStream(StreamKey key) : key_(key) {}
  // Uniform and UniformDouble return `recorded`'s, which outlives the stream.
  explicit RandomStream(RecordedDraws* recorded) : recorded_(recorded) {}

  bool recorded() const { return recorded_ != nullptr; }

  uint32_t Next32();
  uint64_t Next64();
  // Uniform in [0, 1), 24 bits.
  float Uniform() {
    if (recorded_ != nullptr) [[unlikely]] {
      return static_cast<float>(recorded_->Take());
    }
    return (Next32() >> 8) * 0x1.0p-24f;
  }
  // Uniform in [0, 1), 53 bits.
  double UniformDouble() {
    if (recorded_ != nullptr) [[unlikely]]
      return recorded_->Take();
    return (Next64() >> 11) * 0x1.0p-53;
  }
  // Uniform in [0, n), n >= 1, without modulo bias.
  uint32_t Below(uint32_t n);
  // Uniform in [lo, hi], both included.
  int Range(int lo, int hi) {
    return lo + static_cast<int>(Below(static_cast<uint32_t>(hi - lo) + 1));
  }
  // Standard normal (Box-Muller, one value per call).
  double Normal();

  // The i-th uniform of a stream, in O(1): sampling uses it for the token at
  // position i.
  static float UniformAt(StreamKey key, uint64_t i);

 private:
  StreamKey key_;
  RecordedDraws* recorded_ = nullptr;
  uint64_t position_ = 0;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;  // words of block_ already used
};

}  // namespace espalier

#endif  // ESPALIER_BASE_RANDOM_H_
