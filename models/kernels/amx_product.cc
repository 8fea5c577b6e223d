// Products of the AMX path.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/bfloat16.h"
#include "base/check.h"
#include "base/huge_memory.h"
#include "models/kernels/amx_path.h"
#include "models/kernels/int4.h"
#include "models/kernels/tile_instructions.h"

#pragma GCC target("arch=x86-64-v4,avx512bf16,avx512vnni")
// g++ 12 warns about its own AVX-512 headers (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace espalier {
namespace {

#include "models/kernels/amx_tiles-inl.h"
#include "models/kernels/nibbles-inl.h"

constexpr int Ceil(int a, int b) { return (a + b - 1) / b; }

// Inputs per tile along the depth.
constexpr int Depth(WeightKind kind) {
  return kind == WeightKind::kBf16 ? 32 : 64;
}

// Bytes of one step of a panel.
constexpr size_t StepBytes(WeightKind kind) {
  return kind == WeightKind::kInt4 ? kNibbleStep : 2 * kTileBytes;
}

// Whether weights and activation rows are integers with scales.
constexpr bool HasScales(WeightKind kind) { return kind != WeightKind::kBf16; }

class TileWeights : public Weights {
 public:
  TileWeights(int n, int k, WeightKind kind)
      : Weights(n, k, kind),
        steps_(Ceil(k, Depth(kind))),
        tiles_(static_cast<size_t>(Ceil(n, kTilePanel)) *
               static_cast<size_t>(steps_) * StepBytes(kind)) {
    if (HasScales(kind)) {
      scales_.resize(static_cast<size_t>(Ceil(n, kTilePanel) * kTilePanel));
    }
  }

  int64_t bytes() const override {
    return static_cast<int64_t>(tiles_.bytes() +
                                scales_.size() * sizeof(float));
  }
  void Row(int i, float* out) const override;

  int steps() const { return steps_; }
  // Step 0 of the panel that begins at column 32 p.
  std::byte* panel(int p) const {
    return tiles_.data() + static_cast<size_t>(p) *
                               static_cast<size_t>(steps_) * StepBytes(kind());
  }
  float* scales() { return scales_.data(); }
  const float* scales() const { return scales_.data(); }

 private:
  int steps_;  // tiles along the depth
  HugeMemory tiles_;
  std::vector<float> scales_;
};

// Rows of A tiles.
struct OperandView {
  OperandView(const TileWeights& w, std::byte* operand)
      : steps(w.steps()), tiles(operand) {}
  // 64 bytes: row `row`, step `step`.
  std::byte* at(int row, int step) const {
    return tiles +
           (static_cast<size_t>(row / 16) * static_cast<size_t>(steps) +
            static_cast<size_t>(step)) *
               kTileBytes +
           static_cast<size_t>(row % 16) * 64;
  }
  int steps;
  std::byte* tiles;
};

// Scales of an int8 operand precede its tiles, 16 per block of rows, so that
// their place does not depend on the number of rows.
struct Int8Operand {
  explicit Int8Operand(const TileWeights& w, std::byte* operand)
      : block_bytes(64 + static_cast<size_t>(w.steps()) * kTileBytes),
        base(operand) {}
  float* scale(int row) const {
    return reinterpret_cast<float*>(base + static_cast<size_t>(row / 16) *
                                               block_bytes) +
           row % 16;
  }
  std::byte* tiles(int row) const {
    return base + static_cast<size_t>(row / 16) * block_bytes + 64;
  }
  size_t block_bytes;
  std::byte* base;
};

// Packs columns [0, count) of 16 rows of x, row-major [16][k], as one bf16 B
// tile whose columns are these rows.
void PackBf16Tile(const float* x, size_t k, size_t from, std::byte* tile) {
  uint16_t* out = reinterpret_cast<uint16_t*>(tile);
  for (size_t pair = 0; pair < 16; ++pair) {
    for (size_t j = 0; j < 16; ++j) {
      for (size_t i = 0; i < 2; ++i) {
        const size_t at = from + 2 * pair + i;
        out[pair * 32 + 2 * j + i] =
            at < k ? FloatToBf16(x[j * k + at]) : uint16_t{0};
      }
    }
  }
}

// The same if all 32 numbers exist: rows are rounded and transposed in
// registers.
void PackBf16TileFast(const float* x, size_t k, size_t from, std::byte* tile) {
  alignas(64) uint32_t rows[16][16];
  for (size_t j = 0; j < 16; ++j) {
    StoreBf16(reinterpret_cast<uint16_t*>(rows[j]),
              _mm512_loadu_ps(x + j * k + from),
              _mm512_loadu_ps(x + j * k + from + 16));
  }
  const __m512i index = _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 128,
                                          144, 160, 176, 192, 208, 224, 240);
  for (size_t pair = 0; pair < 16; ++pair) {
    _mm512_store_si512(tile + pair * 64,
                       _mm512_i32gather_epi32(index, &rows[0][pair], 4));
  }
}

void PackInt8Tile(const float* x, size_t k, size_t from, const float* inverse,
                  std::byte* tile) {
  int8_t* out = reinterpret_cast<int8_t*>(tile);
  for (size_t four = 0; four < 16; ++four) {
    for (size_t j = 0; j < 16; ++j) {
      for (size_t i = 0; i < 4; ++i) {
        const size_t at = from + 4 * four + i;
        out[four * 64 + 4 * j + i] =
            at < k
                ? static_cast<int8_t>(std::lrintf(x[j * k + at] * inverse[j]))
                : int8_t{0};
      }
    }
  }
}

float HighestMagnitude(const float* x, size_t k) {
  float highest = 0;
  for (size_t i = 0; i < k; ++i) highest = std::max(highest, std::fabs(x[i]));
  return highest;
}

// 16 outputs: half a panel.
void PackHalfPanel(const float* x, TileWeights& w, int column) {
  const size_t k = static_cast<size_t>(w.k());
  std::byte* to =
      w.panel(column / kTilePanel) + (column % kTilePanel / 16) * kTileBytes;
  if (w.kind() == WeightKind::kBf16) {
    for (int s = 0; s < w.steps(); ++s, to += 2 * kTileBytes) {
      const size_t from = static_cast<size_t>(s) * 32;
      if (from + 32 <= k) {
        PackBf16TileFast(x, k, from, to);
      } else {
        PackBf16Tile(x, k, from, to);
      }
    }
    return;
  }
  if (w.kind() == WeightKind::kInt4) {
    PackNibbles(x, w.k(), w.panel(column / kTilePanel),
                static_cast<size_t>(column % kTilePanel / 16),
                w.scales() + column);
    return;
  }
  float inverse[16];
  for (size_t j = 0; j < 16; ++j) {
    const float highest = HighestMagnitude(x + j * k, k);
    w.scales()[static_cast<size_t>(column) + j] = highest / 127;
    inverse[j] = highest > 0 ? 127 / highest : 0;
  }
  for (int s = 0; s < w.steps(); ++s, to += 2 * kTileBytes) {
    PackInt8Tile(x, k, static_cast<size_t>(s) * 64, inverse, to);
  }
}

void TileWeights::Row(int i, float* out) const {
  if (kind() == WeightKind::kInt4) {
    for (int at = 0; at < k(); ++at) {
      out[at] = scales_[static_cast<size_t>(i)] *
                static_cast<float>(NibbleProduct(
                    panel(i / kTilePanel) +
                        static_cast<size_t>(at / 64) * kNibbleStep,
                    at % 64, i % kTilePanel));
    }
    return;
  }
  const std::byte* from =
      panel(i / kTilePanel) + (i % kTilePanel / 16) * kTileBytes;
  const int column = i % 16;
  for (int at = 0; at < k(); ++at) {
    const size_t step = static_cast<size_t>(at / Depth(kind()));
    const std::byte* tile = from + step * 2 * kTileBytes;
    const int in = at % Depth(kind());
    if (kind() == WeightKind::kBf16) {
      out[at] = Bf16ToFloat(reinterpret_cast<const uint16_t*>(
          tile)[in / 2 * 32 + 2 * column + in % 2]);
    } else {
      out[at] = scales_[static_cast<size_t>(i)] *
                static_cast<float>(reinterpret_cast<const int8_t*>(
                    tile)[in / 4 * 64 + 4 * column + in % 4]);
    }
  }
}

void PutBf16Row(const float* x, int k, int row, const OperandView& to) {
  for (int s = 0; s < to.steps; ++s) {
    const int left = k - 32 * s;
    StoreBf16(reinterpret_cast<uint16_t*>(to.at(row, s)),
              LoadPart(x + 32 * s, left), LoadPart(x + 32 * s + 16, left - 16));
  }
}

void PutInt8Row(const TileWeights& w, const float* x, int row,
                const Int8Operand& to) {
  const int k = w.k();
  __m512 highest = _mm512_setzero_ps();
  for (int i = 0; i < k; i += 16) {
    highest = _mm512_max_ps(highest, _mm512_abs_ps(LoadPart(x + i, k - i)));
  }
  const float most = _mm512_reduce_max_ps(highest);
  *to.scale(row) = most / 127;
  const __m512 inverse = _mm512_set1_ps(most > 0 ? 127 / most : 0);
  std::byte* tile = to.tiles(row) + static_cast<size_t>(row % 16) * 64;
  for (int s = 0; s < w.steps(); ++s, tile += kTileBytes) {
    for (int i = 0; i < 4; ++i) {
      const int from = 64 * s + 16 * i;
      const __m512i rounded = _mm512_cvtps_epi32(
          _mm512_mul_ps(LoadPart(x + from, k - from), inverse));
      _mm_store_si128(reinterpret_cast<__m128i*>(tile + 16 * i),
                      _mm512_cvtsepi32_epi8(rounded));
    }
  }
}

// Prefetch distance of weights.
constexpr size_t kAhead = kTileBytes;

[[gnu::always_inline]] inline void AskFor(const std::byte* tiles) {
  for (size_t line = 0; line < 2 * kTileBytes; line += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(tiles + line), _MM_HINT_T1);
  }
}

// One panel times 16 or 32 rows. `kInt`: int8 tiles and int32 sums. `kAsk`:
// prefetch weights; once per panel is enough.
template <bool kInt, bool kTwo, bool kAsk>
void PanelProduct(const std::byte* a0, const std::byte* a1, const std::byte* b,
                  int steps, float* y, size_t ldy) {
  ESP_TILE_ZERO(0);
  ESP_TILE_ZERO(1);
  if constexpr (kTwo) {
    ESP_TILE_ZERO(2);
    ESP_TILE_ZERO(3);
  }
  for (int s = 0; s < steps; ++s) {
    if constexpr (kAsk) AskFor(b + kAhead);
    ESP_TILE_LOAD(4, a0, 64);
    ESP_TILE_LOAD(6, b, 64);
    ESP_TILE_LOAD(7, b + kTileBytes, 64);
    if constexpr (kInt) {
      ESP_TILE_DOT8(0, 4, 6);
      ESP_TILE_DOT8(1, 4, 7);
    } else {
      ESP_TILE_DOT(0, 4, 6);
      ESP_TILE_DOT(1, 4, 7);
    }
    if constexpr (kTwo) {
      ESP_TILE_LOAD(5, a1, 64);
      if constexpr (kInt) {
        ESP_TILE_DOT8(2, 5, 6);
        ESP_TILE_DOT8(3, 5, 7);
      } else {
        ESP_TILE_DOT(2, 5, 6);
        ESP_TILE_DOT(3, 5, 7);
      }
      a1 += kTileBytes;
    }
    a0 += kTileBytes;
    b += 2 * kTileBytes;
  }
  const size_t stride = ldy * sizeof(float);
  ESP_TILE_STORE(0, y, stride);
  ESP_TILE_STORE(1, y + 16, stride);
  if constexpr (kTwo) {
    ESP_TILE_STORE(2, y + 16 * ldy, stride);
    ESP_TILE_STORE(3, y + 16 * ldy + 16, stride);
  }
}

// Converts int32 sums to floats in place.
void Rescale(const TileWeights& w, const Int8Operand& a, int row, int rows,
             int column, int columns, float* y, size_t ldy) {
  for (int r = 0; r < rows; ++r) {
    const __m512 scale = _mm512_set1_ps(*a.scale(row + r));
    float* out = y + static_cast<size_t>(r) * ldy;
    for (int c = 0; c < columns; c += 16) {
      const __m512 sum = _mm512_cvtepi32_ps(_mm512_loadu_si512(out + c));
      _mm512_storeu_ps(out + c,
                       _mm512_mul_ps(_mm512_mul_ps(sum, scale),
                                     _mm512_loadu_ps(w.scales() + column + c)));
    }
  }
}

// One panel times all rows. `kAsk`: prefetch during the first block of rows.
template <bool kInt, bool kAsk>
void PanelRows(const std::byte* a, size_t block_bytes, const std::byte* b,
               int steps, int rows, float* y, size_t ldy) {
  for (int r = 0; r < rows; r += 32) {
    const std::byte* const a0 = a + static_cast<size_t>(r / 16) * block_bytes;
    const std::byte* const a1 = a0 + block_bytes;
    float* const out = y + static_cast<size_t>(r) * ldy;
    if (rows - r > 16) {
      if (kAsk && r == 0) {
        PanelProduct<kInt, true, true>(a0, a1, b, steps, out, ldy);
      } else {
        PanelProduct<kInt, true, false>(a0, a1, b, steps, out, ldy);
      }
    } else if (kAsk && r == 0) {
      PanelProduct<kInt, false, true>(a0, nullptr, b, steps, out, ldy);
    } else {
      PanelProduct<kInt, false, false>(a0, nullptr, b, steps, out, ldy);
    }
  }
}

template <bool kInt>
void Products(const TileWeights& w, const std::byte* a, size_t block_bytes,
              int rows, int column, int columns, float* y, size_t ldy) {
  const int steps = w.steps();
  for (int c = 0; c < columns; c += kTilePanel) {
    PanelRows<kInt, true>(a, block_bytes, w.panel((column + c) / kTilePanel),
                          steps, rows, y + c, ldy);
  }
}

// Up to this many rows are multiplied with packed numbers directly: unpacking
// them for the tiles would cost more.
constexpr int kFewRows = 8;

// int4 weights times rows [row, row + rows) of an int8 operand, int32 sums.
void NibbleProducts(const TileWeights& w, const Int8Operand& a, int row,
                    int rows, int column, int columns, float* y, size_t ldy) {
  const int steps = w.steps();
  if (rows <= kFewRows) {
    thread_local std::vector<int32_t> sums;
    sums.resize(static_cast<size_t>(rows * steps));
    const std::byte* rows_of_a[kFewRows];
    const int32_t* eights[kFewRows];
    for (int r = 0; r < rows; ++r) {
      rows_of_a[r] =
          a.tiles(row + r) + static_cast<size_t>((row + r) % 16) * 64;
      int32_t* const to = sums.data() + r * steps;
      for (int s = 0; s < steps; ++s) {
        to[s] =
            EightTimesSum(rows_of_a[r] + static_cast<size_t>(s) * kTileBytes);
      }
      eights[r] = to;
    }
    constexpr decltype(&NibblePanel<1>) kPanels[] = {
        NibblePanel<1>, NibblePanel<2>, NibblePanel<3>, NibblePanel<4>};
    for (int c = 0; c < columns; c += kTilePanel) {
      const std::byte* const panel = w.panel((column + c) / kTilePanel);
      for (int r = 0; r < rows; r += 4) {
        kPanels[std::min(rows - r, 4) - 1](
            rows_of_a + r, eights + r, panel, steps,
            y + static_cast<size_t>(r) * ldy + c, ldy);
      }
    }
    return;
  }
  thread_local HugeMemory memory;
  const size_t bytes = static_cast<size_t>(steps) * 2 * kTileBytes;
  if (memory.bytes() < bytes) memory = HugeMemory(bytes);
  for (int c = 0; c < columns; c += kTilePanel) {
    const std::byte* const panel = w.panel((column + c) / kTilePanel);
    for (int s = 0; s < steps; ++s) {
      UnpackStep(panel + static_cast<size_t>(s) * kNibbleStep,
                 memory.data() + static_cast<size_t>(s) * 2 * kTileBytes);
    }
    PanelRows<true, false>(a.tiles(row), a.block_bytes, memory.data(), steps,
                           rows, y + c, ldy);
  }
}

const TileWeights& Tiles(const Weights& w) {
  return static_cast<const TileWeights&>(w);
}

}  // namespace

std::unique_ptr<Weights> PackTiles(int n, int k, WeightKind kind,
                                   ReadRows read) {
  ESP_CHECK(kind != WeightKind::kFp32);
  auto w = std::make_unique<TileWeights>(n, k, kind);
  std::vector<float> rows(static_cast<size_t>(16) * static_cast<size_t>(k));
  const int padded = Ceil(n, kTilePanel) * kTilePanel;
  for (int column = 0; column < padded; column += 16) {
    const int count = std::clamp(n - column, 0, 16);
    if (count > 0) read(column, count, rows.data());
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(count) * k, rows.end(),
              0.0f);
    PackHalfPanel(rows.data(), *w, column);
  }
  return w;
}

size_t TileOperandBytes(const Weights& weights, int rows) {
  const TileWeights& w = Tiles(weights);
  const size_t blocks = static_cast<size_t>(Ceil(rows, 32)) * 2;
  const size_t tiles = static_cast<size_t>(w.steps()) * kTileBytes;
  return blocks * (HasScales(w.kind()) ? tiles + 64 : tiles);
}

void PackTileRows(const Weights& weights, const float* x, size_t ldx, int row,
                  int rows, std::byte* operand) {
  const TileWeights& w = Tiles(weights);
  for (int r = 0; r < rows; ++r) {
    const float* from = x + static_cast<size_t>(r) * ldx;
    if (w.kind() == WeightKind::kBf16) {
      PutBf16Row(from, w.k(), row + r, OperandView(w, operand));
    } else {
      PutInt8Row(w, from, row + r, Int8Operand(w, operand));
    }
  }
}

void PackTileBlock(const Weights& weights, const float* x, size_t ldx, int row,
                   int rows, int column, int columns, std::byte* operand) {
  const OperandView to(Tiles(weights), operand);
  for (int r = 0; r < rows; ++r) {
    const float* from = x + static_cast<size_t>(r) * ldx;
    for (int c = 0; c < columns; c += 16) {
      const int at = column + c;
      StoreBf16(reinterpret_cast<uint16_t*>(to.at(row + r, at / 32)) + at % 32,
                LoadPart(from + c, columns - c));
    }
  }
}

void TileProduct(const Weights& weights, const std::byte* operand, int row,
                 int rows, int column, int columns, float* y, size_t ldy) {
  const TileWeights& w = Tiles(weights);
  const TileScope tiles;
  std::byte* const base = const_cast<std::byte*>(operand);
  if (w.kind() == WeightKind::kBf16) {
    const OperandView a(w, base);
    Products<false>(w, a.at(row, 0),
                    static_cast<size_t>(w.steps()) * kTileBytes, rows, column,
                    columns, y, ldy);
  } else {
    const Int8Operand a(w, base);
    if (w.kind() == WeightKind::kInt4) {
      NibbleProducts(w, a, row, rows, column, columns, y, ldy);
    } else {
      Products<true>(w, a.tiles(row), a.block_bytes, rows, column, columns, y,
                     ldy);
    }
    Rescale(w, a, row, rows, column, columns, y, ldy);
  }
}

}  // namespace espalier
