// How a product is cut into chunks for threads: columns that take some ten
// microseconds to read or to compute, of as many rows as the caches like.
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
    int column = 0, columns = 0;  // columns below n, padding not counted
    // Floats from one row of the result to the next.
    size_t stride() const {
      return static_cast<size_t>(columns + 63) / 64 * 64;
    }
  };
  int chunks() const { return column_chunks_ * row_chunks_; }
  // Neighbours share rows.
  Chunk chunk(int i) const;

 private:
  int n_ = 0, rows_ = 0;
  int columns_ = 0, row_block_ = 0;
  int column_chunks_ = 0, row_chunks_ = 0;
};

// The chunk of the product, in memory of the calling thread that its next call
// takes again.
float* RunProduct(const KernelPath& path, const Weights& w,
                  const std::byte* operand, const ProductPlan::Chunk& chunk);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_PRODUCT_PLAN_H_
