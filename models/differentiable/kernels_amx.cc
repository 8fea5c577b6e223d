// bf16 kernels for processors with AMX.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "models/differentiable/kernels.h"
#include "models/kernels/tile_instructions.h"

#pragma GCC target("arch=x86-64-v4,avx512bf16")
// g++ 12 warns about its own AVX-512 headers (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define ESP_NET_BF16

namespace espalier::net {
namespace amx {
namespace {

#include "models/differentiable/simd-inl.h"
// Uses the vectors above.
#include "models/differentiable/blocks-inl.h"
// Uses kChunk and Convert.
#include "models/differentiable/amx-inl.h"
// Uses the tiles.
#include "models/differentiable/amx_attention-inl.h"
#include "models/differentiable/loss-inl.h"
#include "models/differentiable/optimizer-inl.h"

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    .precision = Precision::kBf16,
    .name = "amx-bf16",
    .element_size = sizeof(Bf16),
    .pack = PackMatrix,
    .attention_forward = Blocks<AmxFamily>::AttentionForward,
    .attention_backward = Blocks<AmxFamily>::AttentionBackward,
    .mlp_forward = Blocks<AmxFamily>::MlpForward,
    .mlp_backward = Blocks<AmxFamily>::MlpBackward,
    .policy_forward = Heads<AmxFamily>::PolicyForward,
    .loss_forward = Heads<AmxFamily>::LossForward,
    .loss_backward = Heads<AmxFamily>::LossBackward,
    .heads_forward = Heads<AmxFamily>::HeadsForward,
    .adamw = AdamW,
    .grad_squares = GradSquares,
};

}  // namespace amx
}  // namespace espalier::net
