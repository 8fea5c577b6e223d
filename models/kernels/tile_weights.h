// Weights as tiles, the form that the AMX and the AVX-512 path share: both read
// memory sequentially, panel by panel, step by step of the depth.
//
//   bf16: [n / 32][k / 32][2] tiles;  int8: [n / 32][k / 64][2] tiles
//   int4: [n / 32][k / 64] steps of nibbles.h
//
// n and k are padded with zeros. A tile is 16 rows of 64 bytes, one row a
// vector: row p of a bf16 tile holds inputs 2 p and 2 p + 1 of 16 outputs, row
// p of an int8 tile inputs 4 p .. 4 p + 3.
//
// TileWeights: thread-compatible; constant once packed.
#ifndef ESPALIER_MODELS_KERNELS_TILE_WEIGHTS_H_
#define ESPALIER_MODELS_KERNELS_TILE_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_memory.h"
#include "models/kernels/kernel_path.h"

namespace espalier {

inline constexpr size_t kTileBytes = 1024;
// Columns per panel: two tiles.
inline constexpr int kTilePanel = 32;

// How a path multiplies, which decides how numbers lie in memory.
enum class TileForm : uint8_t {
  kAmx,   // tile instructions: bf16 activations, signed bytes
  kDots,  // VDPBF16PS and VPDPBUSD. The latter multiplies unsigned by signed
          // bytes: weights are stored plus 128, and 128 times the sum of the
          // activations is subtracted, so that the integers are the same
  kFma,   // as kDots, but bf16 weights are widened and multiplied in fp32:
          // activations are rounded to bf16 and stored as fp32
};

// What is added to int8 weights in memory.
constexpr int BytePlus(TileForm form) {
  return form == TileForm::kAmx ? 0 : 128;
}
// Bytes of one activation, query or softmax weight rounded to bf16.
constexpr size_t RoundedBytes(TileForm form) {
  return form == TileForm::kFma ? sizeof(float) : sizeof(uint16_t);
}

// Whether weights and activation rows are integers with scales.
constexpr bool HasScales(WeightKind kind) { return kind != WeightKind::kBf16; }

class TileWeights : public Weights {
 public:
  TileWeights(int n, int k, WeightKind kind, TileForm form);

  int64_t bytes() const override {
    return static_cast<int64_t>(tiles_.bytes() +
                                scales_.size() * sizeof(float));
  }
  void Row(int i, float* out) const override;

  TileForm form() const { return form_; }
  int steps() const { return steps_; }
  size_t step_bytes() const { return step_bytes_; }
  // Step 0 of the panel that begins at column 32 p.
  std::byte* panel(int p) const {
    return tiles_.data() +
           static_cast<size_t>(p) * static_cast<size_t>(steps_) * step_bytes_;
  }
  // One per output, for integers.
  float* scales() { return scales_.data(); }
  const float* scales() const { return scales_.data(); }

 private:
  TileForm form_;
  int steps_;  // along the depth
  size_t step_bytes_;
  HugeMemory tiles_;
  std::vector<float> scales_;
};

inline const TileWeights& Tiles(const Weights& w) {
  return static_cast<const TileWeights&>(w);
}

// bf16, int8 or int4. Call only on machines of a path that uses tiles.
std::unique_ptr<Weights> PackTiles(int n, int k, WeightKind kind, TileForm form,
                                   ReadRows read);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_TILE_WEIGHTS_H_
