// The activation of products whose columns alternate half a column block of
// gates and the same outputs of up (NetworkLayer::up).
//
// Stateless functions: thread-safe if their outputs do not overlap.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_GATED_COLUMNS_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_GATED_COLUMNS_H_

#include "models/checkpoint/trunk_config.h"

namespace espalier {

// One row y[columns] of a product: leaves act(gate) * up in its first half, in
// order. `block` is the path's column_block(), `columns` a multiple of it.
void ActivateGated(Activation act, int block, int columns, float* y);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_GATED_COLUMNS_H_
