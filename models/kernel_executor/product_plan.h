// Divides a product into chunks for threads: columns that take about ten
// microseconds to read or to compute, for as many rows as suit the caches.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_PRODUCT_PLAN_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_PRODUCT_PLAN_H_

#include <cstddef>

#include "models/kernels/kernel_path.h"

namespace espalier {

class ProductPlan {
 public:
  ProductPlan() = default;
  // Chunks begin at multiples of `unit` columns.
  ProductPlan(const KernelPath& path, const Weights& w, int rows, int unit,
              int threads);

  struct Chunk {
    int row = 0, rows = 0;
    int column = 0, columns = 0;  // columns below n, without padding
    // Row stride of the result, in floats.
    size_t stride() const {
      return static_cast<size_t>(columns + 63) / 64 * 64;
    }
  };
  int chunks() const { return column_chunks_ * row_chunks_; }
  // Neighbouring chunks share rows.
  Chunk chunk(int i) const;

 private:
  int n_ = 0, rows_ = 0;
  int columns_ = 0, row_block_ = 0;
  int column_chunks_ = 0, row_chunks_ = 0;
};

// Computes the chunk into memory of the calling thread, reused by its next
// call.
float* RunProduct(const KernelPath& path, const Weights& w,
                  const std::byte* operand, const ProductPlan::Chunk& chunk);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_PRODUCT_PLAN_H_
