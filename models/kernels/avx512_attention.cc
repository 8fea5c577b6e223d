// Attention of the AVX-512 path.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "models/kernels/avx512_path.h"
#include "models/kernels/thread_checks.h"
#include "models/kernels/tile_pages.h"
#include "models/kernels/tile_weights.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/vectors-inl.h"
// After the vectors.
#include "models/kernels/tile_attention-inl.h"
// For Dots.
#include "models/kernels/avx512_dots-inl.h"

// Only the rows that exist are computed.
template <class Dot>
struct VectorDots {
  using Number = typename Dot::Number;
  struct Scope {};
  static constexpr size_t kStep = 16 * Dot::kInputBytes;
  static int Computed(int rows) { return rows; }

  static void Scores(const Number* queries, const std::byte* keys, int steps,
                     int tiles, int rows, float* scores) {
    const size_t next = static_cast<size_t>(steps) * kTileBytes;
    ForRowBlocks(rows, [&](auto count, int from) ESP_RANGES_TOLD {
      constexpr int kRows = decltype(count)::value;
      const std::byte* a[kRows];
      for (int r = 0; r < kRows; ++r) {
        a[r] = reinterpret_cast<const std::byte*>(queries +
                                                  (from + r) * steps * 32);
      }
      float* const out = scores + from * kPageSlots;
      for (int t = 0; t < tiles; t += 2) {
        __m512 sum[kRows][2];
        for (auto& row : sum) row[0] = row[1] = _mm512_setzero_ps();
        AddDots<Dot, kRows>(
            a, keys + static_cast<size_t>(t) * next,
            {.a_step = kStep, .b_next = next, .b_step = kTileBytes}, steps,
            sum);
        for (int r = 0; r < kRows; ++r) {
          _mm512_storeu_ps(out + r * kPageSlots + 16 * t, sum[r][0]);
          _mm512_storeu_ps(out + r * kPageSlots + 16 * t + 16, sum[r][1]);
        }
      }
    });
  }

  static void AddValues(const Number* weights, const std::byte* values,
                        int steps, int dims, int rows, float* sums) {
    const size_t next = static_cast<size_t>(dims / 16) * kTileBytes;
    ForRowBlocks(rows, [&](auto count, int from) ESP_RANGES_TOLD {
      constexpr int kRows = decltype(count)::value;
      const std::byte* a[kRows];
      for (int r = 0; r < kRows; ++r) {
        a[r] = reinterpret_cast<const std::byte*>(weights +
                                                  (from + r) * kPageSlots);
      }
      for (int d = 0; d < dims; d += 32) {
        float* const out = sums + from * dims + d;
        __m512 sum[kRows][2];
        for (int r = 0; r < kRows; ++r) {
          sum[r][0] = _mm512_loadu_ps(out + r * dims);
          sum[r][1] = _mm512_loadu_ps(out + r * dims + 16);
        }
        AddDots<Dot, kRows>(
            a, values + static_cast<size_t>(d / 16) * kTileBytes,
            {.a_step = kStep, .b_next = kTileBytes, .b_step = next}, steps,
            sum);
        for (int r = 0; r < kRows; ++r) {
          _mm512_storeu_ps(out + r * dims, sum[r][0]);
          _mm512_storeu_ps(out + r * dims + 16, sum[r][1]);
        }
      }
    });
  }
};

}  // namespace

int Avx512DotAttend(PageMemory& pages, const AttendRows& rows, float* out) {
  return AttendTiles<VectorDots<Bf16Dot>>(pages, rows, out);
}

int Avx512FmaAttend(PageMemory& pages, const AttendRows& rows, float* out) {
  return AttendTiles<VectorDots<FmaDot>>(pages, rows, out);
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
