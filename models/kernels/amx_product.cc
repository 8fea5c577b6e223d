// Products of the AMX path.
#include <immintrin.h>

#include "models/kernels/amx_path.h"
#include "models/kernels/nibbles.h"
#include "models/kernels/tile_instructions.h"
#include "models/kernels/tile_operand.h"
#include "models/kernels/tile_scope.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

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

// int4 weights times rows [row, row + rows) of an int8 operand, int32 sums.
void NibbleProducts(const TileWeights& w, const Int8Operand& a, int row,
                    int rows, int column, int columns, float* y, size_t ldy) {
  if (rows <= kFewNibbleRows) {
    FewNibbleRows(w, a, row, rows, column, columns, y, ldy);
    return;
  }
  for (int c = 0; c < columns; c += kTilePanel) {
    const std::byte* const tiles = UnpackPanel(w, (column + c) / kTilePanel);
    PanelRows<true, false>(a.tiles(row), a.block_bytes, tiles, w.steps(), rows,
                           y + c, ldy);
  }
}

}  // namespace

void AmxProduct(const Weights& weights, const std::byte* operand, int row,
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

#include "models/kernels/avx512_end-inl.h"
