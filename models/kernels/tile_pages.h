// Pages of the paths that use tiles: bf16, keys and values being B tiles, so
// that attention multiplies them as they lie.
//
//   page:  layer 0: head 0: K [4 of 16 keys][dims / 32] | V [2 of 32 keys]
//                           [dims / 16] tiles
//                   head 1: ...
//
// Row p of a K tile holds dimensions 2 p and 2 p + 1 of 16 keys, row p of a V
// tile keys 2 p and 2 p + 1 of 16 dimensions. `dims` is the head's dimension
// padded to 32.
//
// Externally synchronised, except that different threads may write different
// pages.
#ifndef ESPALIER_MODELS_KERNELS_TILE_PAGES_H_
#define ESPALIER_MODELS_KERNELS_TILE_PAGES_H_

#include <cstddef>
#include <memory>

#include "models/kernels/tile_weights.h"
#include "models/pages/page_blocks.h"
#include "models/pages/page_memory.h"
#include "models/pages/plain_pages.h"

namespace espalier {

// Larger heads use the plain path.
inline constexpr int kMostTileDims = 256;

constexpr int PadDims(int head_dim) { return (head_dim + 31) / 32 * 32; }

class TilePages : public PageMemory {
 public:
  explicit TilePages(PageShape shape)
      : shape_(shape),
        dims_(PadDims(shape.head_dim)),
        half_(static_cast<size_t>(dims_) * kPageSlots * 2),
        blocks_(static_cast<int64_t>(half_) * 2 * shape.layers *
                shape.kv_heads) {}

  int64_t page_bytes() const override { return blocks_.page_bytes(); }
  void Grow(int pages) override { blocks_.Grow(pages); }
  void CopyPrefix(PageId from, PageId to, int filled) override;

  const PageShape& shape() const { return shape_; }
  int dims() const { return dims_; }
  size_t half() const { return half_; }  // bytes of one head's keys
  std::byte* keys(PageId page, int layer, int kv_head) {
    return blocks_.page(page) +
           static_cast<size_t>(layer * shape_.kv_heads + kv_head) * 2 * half_;
  }
  std::byte* values(PageId page, int layer, int kv_head) {
    return keys(page, layer, kv_head) + half_;
  }

 private:
  PageShape shape_;
  int dims_;
  size_t half_;
  PageBlocks blocks_;
};

inline TilePages& PagesOfTiles(PageMemory& pages) {
  return static_cast<TilePages&>(pages);
}

// As in KernelPath. Call only on machines of a path that uses tiles.
std::unique_ptr<PageMemory> NewTilePages(PageShape shape);
void OpenTileSlots(PageMemory& pages, PageId page, int begin, int end);
void StoreTileKey(PageMemory& pages, PageId page, int layer, int kv_head,
                  int slot, const float* key);
void StoreTileValue(PageMemory& pages, PageId page, int layer, int kv_head,
                    int slot, const float* value);
// Rounded to bf16 and padded to 32; scaled by `scale` log2(e), since weights
// are powers of 2.
void PackTileQuery(TileForm form, const float* query, int head_dim, float scale,
                   std::byte* to);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_TILE_PAGES_H_
