// The fp32 family as a kernel table. The including file defines
// ESP_NET_NAMESPACE and ESP_NET_NAME after the system headers and its target.

namespace espalier::net {
namespace ESP_NET_NAMESPACE {
namespace {

#include "models/differentiable/simd-inl.h"
// Uses the vectors above.
#include "models/differentiable/blocks-inl.h"
#include "models/differentiable/fp32-inl.h"
#include "models/differentiable/loss-inl.h"
#include "models/differentiable/optimizer-inl.h"

void NoPack(const Matrix&, const float*, uint16_t*) {}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    .precision = Precision::kFp32,
    .name = ESP_NET_NAME,
    .element_size = sizeof(float),
    .pack = NoPack,
    .attention_forward = Blocks<Fp32Family>::AttentionForward,
    .attention_backward = Blocks<Fp32Family>::AttentionBackward,
    .mlp_forward = Blocks<Fp32Family>::MlpForward,
    .mlp_backward = Blocks<Fp32Family>::MlpBackward,
    .policy_forward = Heads<Fp32Family>::PolicyForward,
    .loss_forward = Heads<Fp32Family>::LossForward,
    .loss_backward = Heads<Fp32Family>::LossBackward,
    .heads_forward = Heads<Fp32Family>::HeadsForward,
    .adamw = AdamW,
    .grad_squares = GradSquares,
};

}  // namespace ESP_NET_NAMESPACE
}  // namespace espalier::net
