// Panels of 4-bit weights (int4.h), four bits in memory. One step of a panel,
// 64 inputs of 32 outputs:
//
//   [2][8][64]  numbers + 8: byte b of row r of half h holds, in its lower four
//               bits, byte b of row r of the int8 tile, in its upper four that
//               of row r + 8
//   [2][16]     multipliers of the outputs, and 32 unused bytes
//
// where the tile's byte 4 j + i of row p is input 4 p + i of output j.
//
// Stateless functions: thread-safe. Call those that multiply or unpack only on
// machines with AVX-512 VNNI.
#ifndef ESPALIER_MODELS_KERNELS_NIBBLES_H_
#define ESPALIER_MODELS_KERNELS_NIBBLES_H_

#include <cstddef>

#include "models/kernels/tile_operand.h"
#include "models/kernels/tile_weights.h"

namespace espalier {

inline constexpr size_t kNibbleTile = 512;
inline constexpr size_t kNibbleStep = 2 * kNibbleTile + 64;

// Packs 16 rows of x as half a panel and writes their `scales`.
void PackNibbles(const float* x, int k, std::byte* panel, size_t half,
                 float* scales);
// Multiplier times number of input `in` of the step and output `column` of the
// panel.
int NibbleProduct(const std::byte* step, int in, int column);

// Panel p as int8 tiles of w.form(), multipliers applied. In memory of the
// calling thread, until its next call.
const std::byte* UnpackPanel(const TileWeights& w, int p);

// Up to this many rows are multiplied with packed numbers directly: unpacking
// them would cost more.
inline constexpr int kFewNibbleRows = 8;
// w times rows [row, row + rows) of `a`, at most kFewNibbleRows: int32 sums.
void FewNibbleRows(const TileWeights& w, const Int8Operand& a, int row,
                   int rows, int column, int columns, float* y, size_t ldy);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_NIBBLES_H_
