// The parts of the AVX-512 path (kernel_path.h), one per file. Call these
// functions only if HaveAvx512Dots().
#ifndef ESPALIER_MODELS_KERNELS_AVX512_PATH_H_
#define ESPALIER_MODELS_KERNELS_AVX512_PATH_H_

#include <cstddef>

#include "models/kernels/kernel_path.h"
#include "models/kernels/tile_weights.h"

namespace espalier {

// Whether the processor has AVX-512 with BF16 and VNNI.
bool HaveAvx512Dots();

// The path with products of this form, kDots or kFma. Avx512Path() is the
// faster one on this processor: bf16 products by VDPBF16PS, but on Intel's,
// which take two cycles for one, in fp32.
const KernelPath& Avx512PathOf(TileForm form);

// As in KernelPath, for TileForm::kDots and kFma.
void Avx512Product(const Weights& w, const std::byte* operand, int row,
                   int rows, int column, int columns, float* y, size_t ldy);
// With queries of TileForm::kDots.
int Avx512DotAttend(PageMemory& pages, const AttendRows& rows, float* out);
// The same with queries of TileForm::kFma, and the same bits unless numbers are
// denormal.
int Avx512FmaAttend(PageMemory& pages, const AttendRows& rows, float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_AVX512_PATH_H_
