// The parts of the AMX path (kernel_path.h), one per file. Call these functions
// only if HaveAmx().
#ifndef ESPALIER_MODELS_KERNELS_AMX_PATH_H_
#define ESPALIER_MODELS_KERNELS_AMX_PATH_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/kernels/kernel_path.h"

namespace espalier {

// Whether the processor has AMX and the operating system permits it.
bool HaveAmx();

// Columns per panel of packed weights: two tiles.
inline constexpr int kTilePanel = 32;

// Packed panels of two tiles per step of depth, so that a product reads memory
// sequentially:
//
//   bf16: [n / 32][k / 32][2] tiles;  int8: [n / 32][k / 64][2] tiles
//   int4: [n / 32][k / 64] steps of nibbles-inl.h
//
// n and k are padded with zeros. Operands are A tiles [rows / 16][depth].
std::unique_ptr<Weights> PackTiles(int n, int k, WeightKind kind,
                                   ReadRows read);
size_t TileOperandBytes(const Weights& w, int rows);
void PackTileRows(const Weights& w, const float* x, size_t ldx, int row,
                  int rows, std::byte* operand);
void PackTileBlock(const Weights& w, const float* x, size_t ldx, int row,
                   int rows, int column, int columns, std::byte* operand);
void TileProduct(const Weights& w, const std::byte* operand, int row, int rows,
                 int column, int columns, float* y, size_t ldy);

// Larger heads use the plain path.
inline constexpr int kMostTileDims = 256;

// bf16 pages whose keys and values are B tiles:
//
//   page:  layer 0: head 0: K [4 of 16 keys][dims / 32] | V [2 of 32 keys]
//                           [dims / 16] tiles
//                   head 1: ...
std::unique_ptr<PageMemory> NewTilePages(PageShape shape);
void OpenTileSlots(PageMemory& pages, PageId page, int begin, int end);
void StoreTileKey(PageMemory& pages, PageId page, int layer, int kv_head,
                  int slot, const float* key);
void StoreTileValue(PageMemory& pages, PageId page, int layer, int kv_head,
                    int slot, const float* value);
// bf16, padded to 32; scaled by `scale` log2(e), since weights are powers of 2.
void PackTileQuery(const float* query, int head_dim, float scale,
                   std::byte* to);
int AttendTiles(PageMemory& pages, const AttendRows& rows, float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_AMX_PATH_H_
