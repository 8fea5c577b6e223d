// The parts of the AMX path (kernel_path.h), one per file. Call these functions
// only if HaveAmx().
#ifndef ESPALIER_MODELS_KERNELS_AMX_PATH_H_
#define ESPALIER_MODELS_KERNELS_AMX_PATH_H_

#include <cstddef>

#include "models/kernels/kernel_path.h"

namespace espalier {

// Whether the processor has AMX and the operating system permits it.
bool HaveAmx();

// As in KernelPath, for TileForm::kAmx.
void AmxProduct(const Weights& w, const std::byte* operand, int row, int rows,
                int column, int columns, float* y, size_t ldy);
int AmxAttend(PageMemory& pages, const AttendRows& rows, float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_AMX_PATH_H_
