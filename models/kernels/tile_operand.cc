#include "models/kernels/tile_operand.h"

#include <immintrin.h>

#include <cstring>

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/vectors-inl.h"

// As bf16 or as fp32.
template <class Number>
void PutRounded(const float* x, int k, int row, const OperandView& to) {
  for (int s = 0; s < to.steps; ++s) {
    const int left = k - 32 * s;
    StoreRounded(reinterpret_cast<Number*>(to.at(row, s)),
                 LoadPart(x + 32 * s, left),
                 LoadPart(x + 32 * s + 16, left - 16));
  }
}

// Row `row` of the operand, columns [column, column + columns).
template <class Number>
void PutBlock(const float* x, int row, int column, int columns,
              const OperandView& to) {
  for (int c = 0; c < columns; c += 16) {
    const int at = column + c;
    StoreRounded(reinterpret_cast<Number*>(to.at(row, at / 32)) + at % 32,
                 LoadPart(x + c, columns - c));
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
  std::byte* tile = to.at(row);
  __m512i sum = _mm512_setzero_si512();
  for (int s = 0; s < w.steps(); ++s, tile += kTileBytes) {
    for (int i = 0; i < 4; ++i) {
      const int from = 64 * s + 16 * i;
      const __m512i rounded = _mm512_cvtps_epi32(
          _mm512_mul_ps(LoadPart(x + from, k - from), inverse));
      _mm_store_si128(reinterpret_cast<__m128i*>(tile + 16 * i),
                      _mm512_cvtsepi32_epi8(rounded));
    }
    sum =
        _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_load_si512(tile));
  }
  *to.sum(row) = _mm512_reduce_add_epi32(sum);
}

}  // namespace

size_t TileOperandBytes(const Weights& weights, int rows) {
  const TileWeights& w = Tiles(weights);
  // AMX reads two blocks of 16 rows at once.
  const size_t blocks = static_cast<size_t>((rows + 31) / 32) * 2;
  const size_t steps = static_cast<size_t>(w.steps());
  return blocks * (HasScales(w.kind())
                       ? Int8Operand::kHead + steps * kTileBytes
                       : steps * 16 * 32 * RoundedBytes(w.form()));
}

void PackTileRows(const Weights& weights, const float* x, size_t ldx, int row,
                  int rows, std::byte* operand) {
  const TileWeights& w = Tiles(weights);
  for (int r = 0; r < rows; ++r) {
    const float* from = x + static_cast<size_t>(r) * ldx;
    if (HasScales(w.kind())) {
      PutInt8Row(w, from, row + r, Int8Operand(w, operand));
    } else if (w.form() == TileForm::kFma) {
      PutRounded<float>(from, w.k(), row + r, OperandView(w, operand));
    } else {
      PutRounded<uint16_t>(from, w.k(), row + r, OperandView(w, operand));
    }
  }
}

void PackTileBlock(const Weights& weights, const float* x, size_t ldx, int row,
                   int rows, int column, int columns, std::byte* operand) {
  const TileWeights& w = Tiles(weights);
  const OperandView to(w, operand);
  for (int r = 0; r < rows; ++r) {
    const float* from = x + static_cast<size_t>(r) * ldx;
    if (w.form() == TileForm::kFma) {
      PutBlock<float>(from, row + r, column, columns, to);
    } else {
      PutBlock<uint16_t>(from, row + r, column, columns, to);
    }
  }
}

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

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
