// Products of the AVX-512 path.
#include <immintrin.h>

#include <cstring>
#include <type_traits>

#include "models/kernels/avx512_path.h"
#include "models/kernels/nibbles.h"
#include "models/kernels/thread_checks.h"
#include "models/kernels/tile_operand.h"
#include "models/kernels/tile_weights.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/avx512_dots-inl.h"

template <int R>
void Start(const int*, __m512 (&sum)[R][2]) {
  for (auto& row : sum) row[0] = row[1] = _mm512_setzero_ps();
}

// Weights are stored plus 128: what this adds is subtracted first.
template <int R>
void Start(const int* sums_of_a, __m512i (&sum)[R][2]) {
  for (int r = 0; r < R; ++r) {
    sum[r][0] = sum[r][1] = _mm512_set1_epi32(-128 * sums_of_a[r]);
  }
}

// One panel times R rows; `sums_of_a` of integers.
template <class Dot, int R, bool kAsk>
ESP_RANGES_TOLD void PanelBlock(const std::byte* const* a, const int* sums_of_a,
                                const std::byte* panel, int steps, float* y,
                                size_t ldy) {
  typename Dot::Sum sum[R][2];
  Start<R>(sums_of_a, sum);
  constexpr DotStrides kStrides = {.a_step = 16 * 16 * Dot::kInputBytes,
                                   .b_next = kTileBytes,
                                   .b_step = 2 * kTileBytes};
  AddDots<Dot, R, kAsk>(a, panel, kStrides, steps, sum);
  for (int r = 0; r < R; ++r) {
    Dot::Store(y + static_cast<size_t>(r) * ldy, sum[r][0]);
    Dot::Store(y + static_cast<size_t>(r) * ldy + 16, sum[r][1]);
  }
}

// Rows of an operand, at step 0.
template <class OfRows>
struct RoundedRows {
  using Dot = OfRows;
  OperandView operand;
  const std::byte* at(int row) const { return operand.at(row, 0); }
  int sum(int) const { return 0; }
};
struct ByteRows {
  using Dot = ByteDot;
  Int8Operand operand;
  const std::byte* at(int row) const { return operand.at(row); }
  int sum(int row) const { return *operand.sum(row); }
};

// One panel times rows [row, row + rows). `kAsk`: prefetch weights during the
// first block of rows.
template <bool kAsk, class Rows>
void PanelRows(const Rows& rows_of_a, int row, int rows, const std::byte* panel,
               int steps, float* y, size_t ldy) {
  ForRowBlocks(rows, [&](auto count, int from) {
    constexpr int kRows = decltype(count)::value;
    const std::byte* a[kRows];
    int sums[kRows];
    for (int r = 0; r < kRows; ++r) {
      a[r] = rows_of_a.at(row + from + r);
      sums[r] = rows_of_a.sum(row + from + r);
    }
    float* const out = y + static_cast<size_t>(from) * ldy;
    if (kAsk && from == 0) {
      PanelBlock<typename Rows::Dot, kRows, true>(a, sums, panel, steps, out,
                                                  ldy);
    } else {
      PanelBlock<typename Rows::Dot, kRows, false>(a, sums, panel, steps, out,
                                                   ldy);
    }
  });
}

template <class Rows>
void Products(const TileWeights& w, const Rows& a, int row, int rows,
              int column, int columns, float* y, size_t ldy) {
  for (int c = 0; c < columns; c += kTilePanel) {
    PanelRows<true>(a, row, rows, w.panel((column + c) / kTilePanel), w.steps(),
                    y + c, ldy);
  }
}

// int4 weights: int32 sums.
void NibbleProducts(const TileWeights& w, const Int8Operand& a, int row,
                    int rows, int column, int columns, float* y, size_t ldy) {
  if (rows <= kFewNibbleRows) {
    FewNibbleRows(w, a, row, rows, column, columns, y, ldy);
    return;
  }
  for (int c = 0; c < columns; c += kTilePanel) {
    const std::byte* const tiles = UnpackPanel(w, (column + c) / kTilePanel);
    PanelRows<false>(ByteRows{a}, row, rows, tiles, w.steps(), y + c, ldy);
  }
}

}  // namespace

void Avx512Product(const Weights& weights, const std::byte* operand, int row,
                   int rows, int column, int columns, float* y, size_t ldy) {
  const TileWeights& w = Tiles(weights);
  std::byte* const base = const_cast<std::byte*>(operand);
  for (int r = 0; r < rows; ++r) {
    TellWrites(y + static_cast<size_t>(r) * ldy, static_cast<size_t>(columns));
  }
  if (w.kind() == WeightKind::kBf16) {
    const OperandView a(w, base);
    TellBytesRead(a.at(row, 0),
                  a.at(row + rows - 1, w.steps() - 1) + a.row_bytes);
    if (w.form() == TileForm::kFma) {
      Products(w, RoundedRows<FmaDot>{a}, row, rows, column, columns, y, ldy);
    } else {
      Products(w, RoundedRows<Bf16Dot>{a}, row, rows, column, columns, y, ldy);
    }
    return;
  }
  const Int8Operand a(w, base);
  TellBytesRead(a.block(row), a.block(row + rows - 1) + a.block_bytes);
  if (w.kind() == WeightKind::kInt4) {
    NibbleProducts(w, a, row, rows, column, columns, y, ldy);
  } else {
    Products(w, ByteRows{a}, row, rows, column, columns, y, ldy);
  }
  Rescale(w, a, row, rows, column, columns, y, ldy);
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
