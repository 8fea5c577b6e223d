#include "models/kernel_executor/gated_columns.h"

#include <algorithm>

#include "models/kernels/kernels.h"

namespace espalier {

void ActivateGated(Activation act, int block, int columns, float* y) {
  const int half = block / 2;
  for (int c = 0; c < columns; c += block) {
    ActivateMul(act, y + c, y + c + half, half);
    if (c > 0) std::copy_n(y + c, half, y + c / 2);
  }
}

}  // namespace espalier
