// Pages and attention of the AMX path.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/bfloat16.h"
#include "base/check.h"
#include "models/kernels/amx_path.h"
#include "models/kernels/tile_instructions.h"
#include "models/pages/page_blocks.h"

#pragma GCC target("arch=x86-64-v4,avx512bf16")
// g++ 12 warns about its own AVX-512 headers (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace espalier {
namespace {

#include "models/kernels/amx_tiles-inl.h"

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

TilePages& Tiles(PageMemory& pages) { return static_cast<TilePages&>(pages); }

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

// 16 query rows (some may be padding) against one page.
struct Tile {
  const uint16_t* queries = nullptr;  // [16, dims]
  float* sums = nullptr;              // [16, dims], running
  float* highest = nullptr;           // [16], running maxima
  float* total = nullptr;             // [16]
};

// Keys of the page that each row of a tile attends to: [first, last).
struct Range {
  int first[16];
  int last[16];
};

// Rows [from, to) have the same page at `block`.
struct Run {
  int block = 0;
  int from = 0;
  int to = 0;
};

// Per-thread buffers of Attend.
struct Scratch {
  std::vector<Run> runs;
  std::vector<float> sums, highest, total;
};

// scores[16][64] = queries x keys, for the tiles of 16 keys below `tiles`.
void Scores(const uint16_t* queries, const std::byte* keys, int steps,
            int tiles, float* scores) {
  const long stride = steps * 64;
  const size_t next = static_cast<size_t>(steps) * kTileBytes;
  const std::byte* q = reinterpret_cast<const std::byte*>(queries);
  ESP_TILE_ZERO(0);
  ESP_TILE_ZERO(1);
  ESP_TILE_ZERO(2);
  ESP_TILE_ZERO(3);
  for (int s = 0; s < steps; ++s) {
    const std::byte* k = keys + static_cast<size_t>(s) * kTileBytes;
    ESP_TILE_LOAD(4, q + 64 * s, stride);
    ESP_TILE_LOAD(5, k, 64);
    ESP_TILE_DOT(0, 4, 5);
    if (tiles > 1) {
      ESP_TILE_LOAD(6, k + next, 64);
      ESP_TILE_DOT(1, 4, 6);
    }
    if (tiles > 2) {
      ESP_TILE_LOAD(7, k + 2 * next, 64);
      ESP_TILE_DOT(2, 4, 7);
      ESP_TILE_LOAD(5, k + 3 * next, 64);
      ESP_TILE_DOT(3, 4, 5);
    }
  }
  ESP_TILE_STORE(0, scores, 256);
  ESP_TILE_STORE(1, scores + 16, 256);
  ESP_TILE_STORE(2, scores + 32, 256);
  ESP_TILE_STORE(3, scores + 48, 256);
}

// Mask of the 16 keys from `key` on that lie within [first, last).
[[gnu::always_inline]] inline __mmask16 Lanes(int key, int first, int last) {
  const int from = std::clamp(first - key, 0, 16);
  const int to = std::clamp(last - key, 0, 16);
  return static_cast<__mmask16>(((1u << to) - 1) & ~((1u << from) - 1));
}

// One row's softmax over the page: weights as bf16, running sums rescaled.
[[gnu::always_inline]] inline void Weigh(const float* scores, int first,
                                         int last, int row, const Tile& tile,
                                         int dims, uint16_t* weights) {
  const __m512 none = _mm512_set1_ps(-1e30f);
  __m512 s[4];
  for (int i = 0; i < 4; ++i) {
    s[i] =
        _mm512_mask_loadu_ps(none, Lanes(16 * i, first, last), scores + 16 * i);
  }
  const float now =
      std::max(tile.highest[row],
               _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(s[0], s[1]),
                                                  _mm512_max_ps(s[2], s[3]))));
  const __m512 m = _mm512_set1_ps(now);
  for (int i = 0; i < 4; ++i) s[i] = Exp2(_mm512_sub_ps(s[i], m));
  // Round first, so that the total is the sum of the weights actually used.
  StoreBf16(weights, s[0], s[1]);
  StoreBf16(weights + 32, s[2], s[3]);
  for (int i = 0; i < 4; ++i) s[i] = LoadBf16(weights + 16 * i);
  const float sum = _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3])));
  if (now == tile.highest[row]) {
    tile.total[row] += sum;
    return;
  }
  const __m512 keep =
      Exp2(_mm512_set1_ps(std::max(tile.highest[row] - now, -1000.0f)));
  tile.total[row] = tile.total[row] * _mm512_cvtss_f32(keep) + sum;
  tile.highest[row] = now;
  float* sums = tile.sums + static_cast<size_t>(row) * dims;
  for (int d = 0; d < dims; d += 16) {
    _mm512_storeu_ps(sums + d, _mm512_mul_ps(_mm512_loadu_ps(sums + d), keep));
  }
}

// sums += weights [16, 64] x values [64, dims], for `steps` of 32 keys.
void AddValues(const uint16_t* weights, const std::byte* values, int steps,
               int dims, float* sums) {
  const long stride = static_cast<long>(dims) * 4;
  const size_t next = static_cast<size_t>(dims / 16) * kTileBytes;
  ESP_TILE_LOAD(4, weights, 128);
  ESP_TILE_LOAD(5, weights + 32, 128);
  for (int d = 0; d < dims; d += 32) {
    const std::byte* v = values + static_cast<size_t>(d / 16) * kTileBytes;
    ESP_TILE_LOAD(0, sums + d, stride);
    ESP_TILE_LOAD(1, sums + d + 16, stride);
    ESP_TILE_LOAD(6, v, 64);
    ESP_TILE_LOAD(7, v + kTileBytes, 64);
    ESP_TILE_DOT(0, 4, 6);
    ESP_TILE_DOT(1, 4, 7);
    if (steps > 1) {
      ESP_TILE_LOAD(6, v + next, 64);
      ESP_TILE_LOAD(7, v + next + kTileBytes, 64);
      ESP_TILE_DOT(0, 5, 6);
      ESP_TILE_DOT(1, 5, 7);
    }
    ESP_TILE_STORE(0, sums + d, stride);
    ESP_TILE_STORE(1, sums + d + 16, stride);
  }
}

// Rows without keys in this page keep their sums: their weights are 0.
void AttendTile(const Tile& tile, const Range& range, int rows,
                const std::byte* keys, const std::byte* values, int dims) {
  alignas(64) float scores[16 * kPageSlots];
  alignas(64) uint16_t weights[16 * kPageSlots];
  const int last = *std::max_element(range.last, range.last + rows);
  const int tiles = (last + 15) / 16;
  Scores(tile.queries, keys, dims / 32, tiles, scores);
  for (int r = 0; r < 16; ++r) {
    uint16_t* to = weights + r * kPageSlots;
    if (r < rows && range.first[r] < range.last[r]) {
      Weigh(scores + r * kPageSlots, range.first[r], range.last[r], r, tile,
            dims, to);
    } else {
      std::memset(to, 0, kPageSlots * sizeof(uint16_t));
    }
  }
  AddValues(weights, values, (last + 31) / 32, dims, tile.sums);
}

void AttendRun(TilePages& pages, const AttendRows& task, const Run& run,
               Scratch& s) {
  const int dims = pages.dims();
  const PageId page = task.pages[run.from][run.block];
  const std::byte* keys = pages.keys(page, task.layer, task.kv_head);
  const std::byte* values = pages.values(page, task.layer, task.kv_head);
  const uint16_t* queries = reinterpret_cast<const uint16_t*>(task.queries);
  const int begin = run.from * task.group, end = run.to * task.group;
  for (int at = begin; at < end; at += 16) {
    const int rows = std::min(16, end - at);
    Range range;
    for (int r = 0; r < rows; ++r) {
      const int position = task.positions[(at + r) / task.group];
      const int base = run.block * kPageSlots;
      range.last[r] = std::clamp(position + 1 - base, 0, kPageSlots);
      range.first[r] =
          task.window == 0
              ? 0
              : std::clamp(position + 1 - task.window - base, 0, kPageSlots);
    }
    const size_t offset = static_cast<size_t>(at) * static_cast<size_t>(dims);
    AttendTile({.queries = queries + offset,
                .sums = s.sums.data() + offset,
                .highest = s.highest.data() + at,
                .total = s.total.data() + at},
               range, rows, keys, values, dims);
  }
}

// Whether the row attends to any key of the block.
bool Sees(const AttendRows& task, int row, int block) {
  const int position = task.positions[row];
  if (position < block * kPageSlots) return false;
  return task.window == 0 ||
         (block + 1) * kPageSlots > position + 1 - task.window;
}

// Page by page in order, so that rows that share a page read it once.
void FindRuns(const AttendRows& task, std::vector<Run>& runs) {
  int blocks = 0;
  for (int r = 0; r < task.rows; ++r) {
    blocks = std::max(blocks, task.positions[r] / kPageSlots + 1);
  }
  for (int block = 0; block < blocks; ++block) {
    for (int from = 0; from < task.rows;) {
      if (!Sees(task, from, block)) {
        ++from;
        continue;
      }
      int to = from + 1;
      while (to < task.rows && Sees(task, to, block) &&
             task.pages[to][block] == task.pages[from][block]) {
        ++to;
      }
      runs.push_back({block, from, to});
      from = to;
    }
  }
}

// Prefetches what the run will read while another one is computed.
void AskFor(TilePages& pages, const AttendRows& task, const Run& run) {
  const int last = task.positions[run.to - 1] - run.block * kPageSlots;
  const char* keys = reinterpret_cast<const char*>(
      pages.keys(task.pages[run.from][run.block], task.layer, task.kv_head));
  const size_t half = pages.half();
  const size_t key_bytes =
      half / 4 * static_cast<size_t>(std::min(last / 16 + 1, 4));
  const size_t value_bytes =
      half / 2 * static_cast<size_t>(std::min(last / 32 + 1, 2));
  for (size_t i = 0; i < key_bytes; i += 64) {
    _mm_prefetch(keys + i, _MM_HINT_T1);
  }
  for (size_t i = 0; i < value_bytes; i += 64) {
    _mm_prefetch(keys + half + i, _MM_HINT_T1);
  }
}

}  // namespace

std::unique_ptr<PageMemory> NewTilePages(PageShape shape) {
  ESP_CHECK(shape.head_dim <= kMostTileDims);
  return std::make_unique<TilePages>(shape);
}

// Slots that do not count have weight 0, but 0 times uninitialised memory may
// be NaN: each group of 32 value slots is zeroed first.
void OpenTileSlots(PageMemory& memory, PageId page, int begin, int end) {
  TilePages& pages = Tiles(memory);
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
  TilePages& pages = Tiles(memory);
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
  TilePages& pages = Tiles(memory);
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

void PackTileQuery(const float* query, int head_dim, float scale,
                   std::byte* to) {
  const __m512 factor = _mm512_set1_ps(scale * 1.44269504f);
  uint16_t* out = reinterpret_cast<uint16_t*>(to);
  for (int d = 0; d < PadDims(head_dim); d += 16) {
    StoreBf16(out + d,
              _mm512_mul_ps(LoadPart(query + d, head_dim - d), factor));
  }
}

int AttendTiles(PageMemory& memory, const AttendRows& task, float* out) {
  TilePages& pages = Tiles(memory);
  const TileScope tiles;
  const int dims = pages.dims();
  const int rows = task.rows * task.group;
  const size_t padded = static_cast<size_t>(rows + 15);
  thread_local Scratch s;
  s.sums.assign(padded * static_cast<size_t>(dims), 0.0f);
  s.highest.assign(padded, -1e30f);
  s.total.assign(padded, 0.0f);
  s.runs.clear();
  FindRuns(task, s.runs);
  for (size_t i = 0; i < s.runs.size(); ++i) {
    if (i + 1 < s.runs.size()) AskFor(pages, task, s.runs[i + 1]);
    AttendRun(pages, task, s.runs[i], s);
  }
  for (int r = 0; r < rows; ++r) {
    const __m512 inverse =
        _mm512_set1_ps(1.0f / s.total[static_cast<size_t>(r)]);
    const size_t at = static_cast<size_t>(r) * static_cast<size_t>(dims);
    for (int d = 0; d < dims; d += 16) {
      _mm512_storeu_ps(
          out + at + d,
          _mm512_mul_ps(_mm512_loadu_ps(s.sums.data() + at + d), inverse));
    }
  }
  return static_cast<int>(s.runs.size());
}

}  // namespace espalier
