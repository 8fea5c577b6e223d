#include "models/kernels/tile_weights.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "base/check.h"
#include "models/kernels/nibbles.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/vectors-inl.h"

constexpr int CeilDiv(int a, int b) { return (a + b - 1) / b; }

// Inputs per tile along the depth.
constexpr int Depth(WeightKind kind) {
  return kind == WeightKind::kBf16 ? 32 : 64;
}

constexpr size_t StepBytes(WeightKind kind) {
  return kind == WeightKind::kInt4 ? kNibbleStep : 2 * kTileBytes;
}

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
                  int plus, std::byte* tile) {
  for (size_t four = 0; four < 16; ++four) {
    for (size_t j = 0; j < 16; ++j) {
      for (size_t i = 0; i < 4; ++i) {
        const size_t at = from + 4 * four + i;
        const int number =
            at < k ? static_cast<int>(std::lrintf(x[j * k + at] * inverse[j]))
                   : 0;
        tile[four * 64 + 4 * j + i] = static_cast<std::byte>(number + plus);
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
    PackInt8Tile(x, k, static_cast<size_t>(s) * 64, inverse, BytePlus(w.form()),
                 to);
  }
}

}  // namespace

TileWeights::TileWeights(int n, int k, WeightKind kind, TileForm form)
    : Weights(n, k, kind),
      form_(form),
      steps_(CeilDiv(k, Depth(kind))),
      step_bytes_(StepBytes(kind)),
      tiles_(static_cast<size_t>(CeilDiv(n, kTilePanel)) *
             static_cast<size_t>(steps_) * step_bytes_) {
  if (HasScales(kind)) {
    scales_.resize(static_cast<size_t>(CeilDiv(n, kTilePanel) * kTilePanel));
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
      const int8_t number = static_cast<int8_t>(
          static_cast<int>(tile[in / 4 * 64 + 4 * column + in % 4]) -
          BytePlus(form_));
      out[at] = scales_[static_cast<size_t>(i)] * static_cast<float>(number);
    }
  }
}

std::unique_ptr<Weights> PackTiles(int n, int k, WeightKind kind, TileForm form,
                                   ReadRows read) {
  ESP_CHECK(kind != WeightKind::kFp32);
  auto w = std::make_unique<TileWeights>(n, k, kind, form);
  std::vector<float> rows(static_cast<size_t>(16) * static_cast<size_t>(k));
  const int padded = CeilDiv(n, kTilePanel) * kTilePanel;
  for (int column = 0; column < padded; column += 16) {
    const int count = std::clamp(n - column, 0, 16);
    if (count > 0) read(column, count, rows.data());
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(count) * k, rows.end(),
              0.0f);
    PackHalfPanel(rows.data(), *w, column);
  }
  return w;
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
