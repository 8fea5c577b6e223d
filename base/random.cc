#include "base/random.h"

#include <cmath>
#include <numbers>

namespace espalier {
namespace {

constexpr uint32_t kMul0 = 0xD2511F53;  // constants of the Philox paper
constexpr uint32_t kMul1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

// `key.hi` keys the cipher; `key.lo` and the position form the counter.
std::array<uint32_t, 4> Block(StreamKey key, uint64_t position) {
  return Philox4x32(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
       static_cast<uint32_t>(key.lo), static_cast<uint32_t>(key.lo >> 32)},
      {static_cast<uint32_t>(key.hi), static_cast<uint32_t>(key.hi >> 32)});
}

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> c,
                                   std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(kMul0) * c[0];
    const uint64_t p1 = static_cast<uint64_t>(kMul1) * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0],
         static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1],
         static_cast<uint32_t>(p0)};
    k[0] += kWeyl0;
    k[1] += kWeyl1;
  }
  return c;
}

StreamKey::StreamKey(uint64_t seed, uint64_t problem, uint64_t node,
                     Purpose purpose, uint64_t index)
    : hi(MixHash(MixHash(seed, problem), static_cast<uint64_t>(purpose))),
      lo(MixHash(MixHash(hi, node), index)) {}

double RecordedDraws::Take() {
  return next < values.size() ? values[next++] : 0;
}

uint32_t RandomStream::Next32() {
  if (used_ == 4) {
    block_ = Block(key_, position_++);
    used_ = 0;
  }
  return block_[used_++];
}

uint64_t RandomStream::Next64() {
  const uint64_t high = Next32();
  return high << 32 | Next32();
}

uint32_t RandomStream::Below(uint32_t n) {
  // Lemire's multiply-shift with rejection of the biased low part.
  const uint32_t threshold = (0u - n) % n;
  while (true) {
    const uint64_t m = static_cast<uint64_t>(Next32()) * n;
    if (static_cast<uint32_t>(m) >= threshold) {
      return static_cast<uint32_t>(m >> 32);
    }
  }
}

double RandomStream::Normal() {
  const double u = 1.0 - UniformDouble();  // in (0, 1]
  const double v = UniformDouble();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

float RandomStream::UniformAt(StreamKey key, uint64_t i) {
  return (Block(key, i)[0] >> 8) * 0x1.0p-24f;
}

}  // namespace espalier
