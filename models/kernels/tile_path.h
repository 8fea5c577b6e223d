// What the paths that multiply tiles have in common: packing, operands, pages.
// They differ in how they multiply, and in how numbers lie in memory for it
// (TileForm).
//
// Thread-safe: no state.
#ifndef ESPALIER_MODELS_KERNELS_TILE_PATH_H_
#define ESPALIER_MODELS_KERNELS_TILE_PATH_H_

#include <cstddef>
#include <memory>

#include "models/kernels/kernel_path.h"
#include "models/kernels/tile_operand.h"
#include "models/kernels/tile_pages.h"
#include "models/kernels/tile_weights.h"

namespace espalier {

class TilePath : public KernelPath {
 public:
  explicit TilePath(TileForm form) : form_(form) {}

  int column_block() const override { return kTilePanel; }
  bool Takes(WeightKind kind, int head_dim) const override {
    return kind != WeightKind::kFp32 && head_dim <= kMostTileDims;
  }
  int PadHead(int head_dim) const override { return PadDims(head_dim); }

  std::unique_ptr<Weights> Pack(int n, int k, WeightKind kind,
                                ReadRows read) const override {
    return PackTiles(n, k, kind, form_, read);
  }
  size_t OperandBytes(const Weights& w, int rows) const override {
    return TileOperandBytes(w, rows);
  }
  bool PacksBlocks(const Weights& w) const override {
    return w.kind() == WeightKind::kBf16;
  }
  void PackRows(const Weights& w, const float* x, size_t ldx, int row, int rows,
                std::byte* operand) const override {
    PackTileRows(w, x, ldx, row, rows, operand);
  }
  void PackBlock(const Weights& w, const float* x, size_t ldx, int row,
                 int rows, int column, int columns,
                 std::byte* operand) const override {
    PackTileBlock(w, x, ldx, row, rows, column, columns, operand);
  }

  std::unique_ptr<PageMemory> NewPages(PageShape shape) const override {
    return NewTilePages(shape);
  }
  void OpenSlots(PageMemory& pages, PageId page, int begin,
                 int end) const override {
    OpenTileSlots(pages, page, begin, end);
  }
  void StoreKey(PageMemory& pages, PageId page, int layer, int kv_head,
                int slot, const float* key) const override {
    StoreTileKey(pages, page, layer, kv_head, slot, key);
  }
  void StoreValue(PageMemory& pages, PageId page, int layer, int kv_head,
                  int slot, const float* value) const override {
    StoreTileValue(pages, page, layer, kv_head, slot, value);
  }
  size_t QueryBytes(int head_dim) const override {
    return static_cast<size_t>(PadHead(head_dim)) * RoundedBytes(form_);
  }
  void PackQuery(const float* query, int head_dim, float scale,
                 std::byte* to) const override {
    PackTileQuery(form_, query, head_dim, scale, to);
  }

 private:
  TileForm form_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_TILE_PATH_H_
