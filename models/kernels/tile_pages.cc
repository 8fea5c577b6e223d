#include "models/kernels/tile_pages.h"

#include <immintrin.h>

#include <cstring>

#include "base/check.h"
#include "models/kernels/tile_weights.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/vectors-inl.h"

}  // namespace

// Copies whole tiles of 16 keys and 32 values: slots beyond `filled` are never
// attended to, but values must not be NaN.
void TilePages::CopyPrefix(PageId from, PageId to, int filled) {
  ESP_CHECK(filled >= 0 && filled <= kPageSlots);
  const size_t key_bytes = half_ / 4 * static_cast<size_t>((filled + 15) / 16);
  const size_t value_bytes =
      half_ / 2 * static_cast<size_t>((filled + 31) / 32);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    for (int head = 0; head < shape_.kv_heads; ++head) {
      std::memcpy(keys(to, layer, head), keys(from, layer, head), key_bytes);
      std::memcpy(values(to, layer, head), values(from, layer, head),
                  value_bytes);
    }
  }
}

std::unique_ptr<PageMemory> NewTilePages(PageShape shape) {
  ESP_CHECK(shape.head_dim <= kMostTileDims);
  return std::make_unique<TilePages>(shape);
}

// Slots that do not count have weight 0, but 0 times uninitialised memory may
// be NaN: each group of 32 value slots is zeroed first.
void OpenTileSlots(PageMemory& memory, PageId page, int begin, int end) {
  TilePages& pages = PagesOfTiles(memory);
  for (int slot = 0; slot < kPageSlots; slot += 32) {
    if (slot < begin || slot >= end) continue;
    const size_t bytes = pages.half() / 2;
    for (int layer = 0; layer < pages.shape().layers; ++layer) {
      for (int head = 0; head < pages.shape().kv_heads; ++head) {
        std::memset(pages.values(page, layer, head) + (slot / 32) * bytes, 0,
                    bytes);
      }
    }
  }
}

void StoreTileKey(PageMemory& memory, PageId page, int layer, int kv_head,
                  int slot, const float* key) {
  TilePages& pages = PagesOfTiles(memory);
  const int head_dim = pages.shape().head_dim;
  alignas(64) uint32_t pairs[kMostTileDims / 2] = {};
  for (int d = 0; d < head_dim; d += 16) {
    StoreBf16(reinterpret_cast<uint16_t*>(pairs) + d,
              LoadPart(key + d, head_dim - d));
  }
  const int steps = pages.dims() / 32;
  for (int s = 0; s < steps; ++s) {
    uint32_t* tile = reinterpret_cast<uint32_t*>(
        pages.keys(page, layer, kv_head) +
        static_cast<size_t>(slot / 16 * steps + s) * kTileBytes);
    for (int p = 0; p < 16; ++p) tile[p * 16 + slot % 16] = pairs[16 * s + p];
  }
}

void StoreTileValue(PageMemory& memory, PageId page, int layer, int kv_head,
                    int slot, const float* value) {
  TilePages& pages = PagesOfTiles(memory);
  const int head_dim = pages.shape().head_dim;
  const int blocks = pages.dims() / 16;
  std::byte* base = pages.values(page, layer, kv_head) +
                    static_cast<size_t>(slot / 32 * blocks) * kTileBytes +
                    static_cast<size_t>(slot % 32 / 2) * 64;
  for (int b = 0; b < blocks; ++b, base += kTileBytes) {
    uint16_t rounded[16];
    StoreBf16(rounded, LoadPart(value + 16 * b, head_dim - 16 * b));
    uint16_t* to = reinterpret_cast<uint16_t*>(base) + slot % 2;
    for (int i = 0; i < 16; ++i) to[2 * i] = rounded[i];
  }
}

void PackTileQuery(TileForm form, const float* query, int head_dim, float scale,
                   std::byte* to) {
  const __m512 factor = _mm512_set1_ps(scale * 1.44269504f);
  for (int d = 0; d < PadDims(head_dim); d += 16) {
    const __m512 part =
        _mm512_mul_ps(LoadPart(query + d, head_dim - d), factor);
    if (form == TileForm::kFma) {
      StoreRounded(reinterpret_cast<float*>(to) + d, part);
    } else {
      StoreRounded(reinterpret_cast<uint16_t*>(to) + d, part);
    }
  }
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
