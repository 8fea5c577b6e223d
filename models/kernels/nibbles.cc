#include "models/kernels/nibbles.h"

#include <immintrin.h>

#include <algorithm>
#include <vector>

#include "base/huge_memory.h"
#include "models/kernels/int4.h"
#include "models/kernels/thread_checks.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

// Multipliers of 16 outputs, as int32.
[[gnu::always_inline]] inline __m512i LoadMultipliers(const std::byte* step,
                                                      size_t half) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(
      reinterpret_cast<const __m128i*>(step + 2 * kNibbleTile + 16 * half)));
}

// Unpacks the step's two int8 tiles, each number plus `plus`. Two products of a
// multiplier and a number below 16 fit into 16 bits side by side, so one
// multiplication gives both.
ESP_RANGES_TOLD void UnpackStep(const std::byte* step, int plus,
                                std::byte* tiles) {
  const __m512i low = _mm512_set1_epi8(15);
  for (size_t half = 0; half < 2; ++half) {
    __m512i m = LoadMultipliers(step, half);
    m = _mm512_or_si512(m, _mm512_slli_epi32(m, 16));
    const __m512i eight = _mm512_sub_epi8(
        _mm512_slli_epi16(_mm512_or_si512(m, _mm512_slli_epi16(m, 8)), 3),
        _mm512_set1_epi8(static_cast<char>(plus)));
    for (size_t r = 0; r < 8; ++r) {
      const __m512i both =
          _mm512_loadu_si512(step + half * kNibbleTile + 64 * r);
      const __m512i a = _mm512_and_si512(both, low);
      const __m512i b = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
      std::byte* const to = tiles + half * kTileBytes + 64 * r;
      _mm512_store_si512(to, _mm512_sub_epi8(_mm512_mullo_epi16(a, m), eight));
      _mm512_store_si512(to + 512,
                         _mm512_sub_epi8(_mm512_mullo_epi16(b, m), eight));
    }
  }
}

// One panel times R rows of int8, as int32 sums. a[r] points to row r's 64
// bytes of the first step; the next step follows after kTileBytes. eights[r][s]
// is 8 times the sum of row r's 64 numbers, since numbers are stored plus 8.
template <int R>
ESP_RANGES_TOLD void NibblePanel(const std::byte* const* a,
                                 const int32_t* const* eights,
                                 const std::byte* panel, int steps, float* y,
                                 size_t ldy) {
  constexpr size_t kFetch = 2 * kNibbleStep;
  const __m512i low = _mm512_set1_epi8(15);
  __m512i total[R][2];
  for (auto& row : total) row[0] = row[1] = _mm512_setzero_si512();
  const std::byte* step = panel;
  for (int s = 0; s < steps; ++s, step += kNibbleStep) {
    for (size_t line = 0; line < kNibbleStep; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(step + kFetch + line),
                   _MM_HINT_T0);
    }
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; ++half) {
      __m512i sum[R][2];
      for (int r = 0; r < R; ++r) {
        sum[r][0] = _mm512_set1_epi32(-eights[r][s]);
        sum[r][1] = _mm512_setzero_si512();
      }
#pragma GCC unroll 8
      for (size_t p = 0; p < 8; ++p) {
        const __m512i both =
            _mm512_loadu_si512(step + half * kNibbleTile + 64 * p);
        const __m512i lower = _mm512_and_si512(both, low);
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
        for (int r = 0; r < R; ++r) {
          const int32_t* const x = reinterpret_cast<const int32_t*>(
              a[r] + static_cast<size_t>(s) * kTileBytes);
          sum[r][0] =
              _mm512_dpbusd_epi32(sum[r][0], lower, _mm512_set1_epi32(x[p]));
          sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], upper,
                                          _mm512_set1_epi32(x[p + 8]));
        }
      }
      const __m512i m = LoadMultipliers(step, half);
      for (int r = 0; r < R; ++r) {
        total[r][half] = _mm512_add_epi32(
            total[r][half],
            _mm512_mullo_epi32(_mm512_add_epi32(sum[r][0], sum[r][1]), m));
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    _mm512_storeu_si512(y + static_cast<size_t>(r) * ldy, total[r][0]);
    _mm512_storeu_si512(y + static_cast<size_t>(r) * ldy + 16, total[r][1]);
  }
}

// 8 times the sum of 64 int8 numbers.
int32_t EightTimesSum(const std::byte* x) {
  return _mm512_reduce_add_epi32(_mm512_dpbusd_epi32(
      _mm512_setzero_si512(), _mm512_set1_epi8(8), _mm512_loadu_si512(x)));
}

}  // namespace

void PackNibbles(const float* x, int k, std::byte* panel, size_t half,
                 float* scales) {
  Int4Row row;
  for (size_t j = 0; j < 16; ++j) {
    QuantizeInt4(x + j * static_cast<size_t>(k), k, row);
    scales[j] = row.scale;
    for (size_t g = 0; g < row.multipliers.size(); ++g) {
      std::byte* const step = panel + g * kNibbleStep;
      step[2 * kNibbleTile + 16 * half + j] = std::byte{row.multipliers[g]};
      for (size_t i = 0; i < 64; ++i) {
        const size_t at = g * 64 + i;
        const int number = at < row.numbers.size() ? row.numbers[at] : 0;
        const size_t p = i / 4;
        std::byte& byte = step[half * kNibbleTile + p % 8 * 64 + 4 * j + i % 4];
        byte |= static_cast<std::byte>((number + 8) << (p < 8 ? 0 : 4));
      }
    }
  }
}

int NibbleProduct(const std::byte* step, int in, int column) {
  const size_t half = static_cast<size_t>(column / 16);
  const size_t j = static_cast<size_t>(column % 16);
  const size_t p = static_cast<size_t>(in / 4);
  const int byte = static_cast<int>(step[half * kNibbleTile + p % 8 * 64 +
                                         4 * j + static_cast<size_t>(in % 4)]);
  const int number = (p < 8 ? byte & 15 : byte >> 4) - 8;
  return number * static_cast<int>(step[2 * kNibbleTile + 16 * half + j]);
}

const std::byte* UnpackPanel(const TileWeights& w, int p) {
  thread_local HugeMemory memory;
  const size_t bytes = static_cast<size_t>(w.steps()) * 2 * kTileBytes;
  if (memory.bytes() < bytes) memory = HugeMemory(bytes);
  for (int s = 0; s < w.steps(); ++s) {
    UnpackStep(w.panel(p) + static_cast<size_t>(s) * kNibbleStep,
               BytePlus(w.form()),
               memory.data() + static_cast<size_t>(s) * 2 * kTileBytes);
  }
  return memory.data();
}

void FewNibbleRows(const TileWeights& w, const Int8Operand& a, int row,
                   int rows, int column, int columns, float* y, size_t ldy) {
  const int steps = w.steps();
  thread_local std::vector<int32_t> sums;
  sums.resize(static_cast<size_t>(rows * steps));
  const std::byte* rows_of_a[kFewNibbleRows];
  const int32_t* eights[kFewNibbleRows];
  for (int r = 0; r < rows; ++r) {
    rows_of_a[r] = a.at(row + r);
    int32_t* const to = sums.data() + r * steps;
    for (int s = 0; s < steps; ++s) {
      to[s] = EightTimesSum(rows_of_a[r] + static_cast<size_t>(s) * kTileBytes);
    }
    eights[r] = to;
    TellWrites(y + static_cast<size_t>(r) * ldy, static_cast<size_t>(columns));
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
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
