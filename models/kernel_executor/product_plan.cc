#include "models/kernel_executor/product_plan.h"

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

// Bytes of memory that a core reads per microsecond, roughly.
constexpr double kBytesPerUs = 14e3;
// Long enough to hide scheduling, short compared with 50 us even if a chunk
// takes twice its estimate.
constexpr double kChunkUs = 16;

int Ceil(int a, int b) { return (a + b - 1) / b; }

}  // namespace

ProductPlan::ProductPlan(const KernelPath& path, const Weights& w, int rows,
                         int unit, int threads)
    : n_(w.n()), rows_(rows), row_block_(path.row_block()) {
  const double block = std::min(rows, row_block_);
  const double us_a_column =
      std::max(static_cast<double>(w.bytes()) / w.n() / kBytesPerUs,
               2 * block * w.k() / path.operations_per_us());
  const int units = Ceil(n_, unit);
  int each =
      std::clamp(static_cast<int>(kChunkUs / (us_a_column * unit)), 1, units);
  // A single thread needs no balance; several need chunks of similar size.
  if (threads == 1) {
    each = std::min(units, std::max(each, 256 / unit));
  } else {
    each = std::min(each, std::max(1, Ceil(units, 2 * threads)));
  }
  columns_ = each * unit;
  column_chunks_ = Ceil(n_, columns_);
  row_chunks_ = Ceil(rows, row_block_);
}

ProductPlan::Chunk ProductPlan::chunk(int i) const {
  Chunk out;
  out.row = i / column_chunks_ * row_block_;
  out.rows = std::min(row_block_, rows_ - out.row);
  out.column = i % column_chunks_ * columns_;
  out.columns = std::min(columns_, n_ - out.column);
  return out;
}

float* RunProduct(const KernelPath& path, const Weights& w,
                  const std::byte* operand, const ProductPlan::Chunk& chunk) {
  thread_local std::vector<float> y;
  y.resize(std::max(y.size(), static_cast<size_t>(chunk.rows + 31) / 32 * 32 *
                                  chunk.stride()));
  path.Product(w, operand, chunk.row, chunk.rows, chunk.column, chunk.columns,
               y.data(), chunk.stride());
  return y.data();
}

}  // namespace espalier
