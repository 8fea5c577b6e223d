// Activations packed for products with TileWeights: A tiles [rows / 16][depth],
// a tile's row being 64 bytes of one row of activations.
//
// Stateless functions and views: thread-safe for rows that do not overlap.
#ifndef ESPALIER_MODELS_KERNELS_TILE_OPERAND_H_
#define ESPALIER_MODELS_KERNELS_TILE_OPERAND_H_

#include <cstddef>
#include <cstdint>

#include "models/kernels/tile_weights.h"

namespace espalier {

// bf16, in 2 or (TileForm::kFma) 4 bytes.
struct OperandView {
  OperandView(const TileWeights& w, std::byte* operand)
      : steps(w.steps()),
        row_bytes(32 * RoundedBytes(w.form())),
        tiles(operand) {}
  // The row's 32 numbers of a step; the next step follows after 16 rows.
  std::byte* at(int row, int step) const {
    return tiles +
           (static_cast<size_t>(row / 16) * static_cast<size_t>(steps) +
            static_cast<size_t>(step)) *
               16 * row_bytes +
           static_cast<size_t>(row % 16) * row_bytes;
  }
  int steps;
  size_t row_bytes;
  std::byte* tiles;
};

// int8. Scales and sums of 16 rows precede their tiles, so that their place
// does not depend on the number of rows.
struct Int8Operand {
  explicit Int8Operand(const TileWeights& w, std::byte* operand)
      : block_bytes(kHead + static_cast<size_t>(w.steps()) * kTileBytes),
        base(operand) {}
  float* scale(int row) const {
    return reinterpret_cast<float*>(block(row)) + row % 16;
  }
  // The sum of the row's integers.
  int32_t* sum(int row) const {
    return reinterpret_cast<int32_t*>(block(row) + 64) + row % 16;
  }
  std::byte* tiles(int row) const { return block(row) + kHead; }
  // 64 bytes: row `row`, step 0.
  std::byte* at(int row) const {
    return tiles(row) + static_cast<size_t>(row % 16) * 64;
  }
  std::byte* block(int row) const {
    return base + static_cast<size_t>(row / 16) * block_bytes;
  }
  static constexpr size_t kHead = 128;
  size_t block_bytes;
  std::byte* base;
};

// As in KernelPath.
size_t TileOperandBytes(const Weights& w, int rows);
void PackTileRows(const Weights& w, const float* x, size_t ldx, int row,
                  int rows, std::byte* operand);
void PackTileBlock(const Weights& w, const float* x, size_t ldx, int row,
                   int rows, int column, int columns, std::byte* operand);
// Converts int32 sums y to floats in place, by the scales of rows and columns.
void Rescale(const TileWeights& w, const Int8Operand& a, int row, int rows,
             int column, int columns, float* y, size_t ldy);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_TILE_OPERAND_H_
