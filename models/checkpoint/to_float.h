// Fast conversion of a checkpoint's bytes to fp32.
//
//   std::vector<float> row(columns);
//   ToFloats(DType::kBF16, bytes, row.size(), row.data());
//
// Exact for every input: BF16, F16 (subnormals, infinities and NaNs too) and
// F32, little endian, at any address.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_TO_FLOAT_H_
#define ESPALIER_MODELS_CHECKPOINT_TO_FLOAT_H_

#include <cstddef>

#include "models/checkpoint/safetensors.h"

namespace espalier {

// True for BF16, F16 and F32.
bool IsFloat(DType dtype);

// Requires IsFloat(dtype); `in` has n elements.
void ToFloats(DType dtype, const std::byte* in, size_t n, float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_TO_FLOAT_H_
