// Trunk over the kernels of models/kernels.
//
// A Forward is a sequence of phases, each divided into chunks of a few
// microseconds that threads claim dynamically:
//
//   embed     embedding rows; opens the pages' new slots
//   of each layer:
//     norm    the residual's norm, as an operand
//     heads   products of queries, keys and values; rotation; into the pages
//     attend  a KV head's queries of adjacent rows over their pages
//     output  product, bias, added to the residual
//     norm    again
//     up      products of gate and up, activation
//     down    product, bias, added to the residual
//   final     norm of the requested rows
//
// Some architectures need more: the norm of whole rows of queries and keys
// before they are rotated, norms of what is added to the residual, experts
// (expert_step.h).
//
// A chunk of a product is some columns of some rows, so that each weight is
// read once for all rows and by one thread.
#include "models/kernel_executor/kernel_trunk.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "models/kernel_executor/forward_step.h"

namespace espalier {

namespace {

// In place.
void ScaleLogits(const TrunkConfig& c, int n, float* logits) {
  if (c.logit_scale != 1) {
    for (int i = 0; i < n; ++i) logits[i] *= c.logit_scale;
  }
  if (c.logit_cap <= 0) return;
  for (int i = 0; i < n; ++i) {
    logits[i] = c.logit_cap * std::tanh(logits[i] / c.logit_cap);
  }
}

}  // namespace

KernelTrunk::KernelTrunk(Network network, const KernelPath& path)
    : net_(std::move(network)), path_(path), ropes_(net_.config) {}

std::unique_ptr<PageMemory> KernelTrunk::NewPages() const {
  const TrunkConfig& c = net_.config;
  return path_.NewPages({c.layers, c.kv_heads, c.head_dim});
}

void KernelTrunk::Forward(absl::Span<const Segment> segments, PageMemory& pages,
                          Executor& executor) {
  int length = 0;
  for (const Segment& s : segments) {
    length = std::max(length, s.start + static_cast<int>(s.tokens.size()));
  }
  ropes_.Reach(length);
  step_.Begin(net_, path_, ropes_, segments, pages, executor.threads());
  executor.RunPhases(step_.chunks(),
                     [&](int phase, int chunk) { step_.Run(phase, chunk); });
}

void KernelTrunk::Logits(const float* hidden, int n, float* logits,
                         Executor& executor) {
  const TrunkConfig& c = net_.config;
  const Weights& head = net_.lm_head ? *net_.lm_head : *net_.embedding;
  const size_t vocab = static_cast<size_t>(c.vocab_size);
  const size_t d = static_cast<size_t>(c.hidden_size);
  operand_.resize(std::max(operand_.size(), path_.OperandBytes(head, n)));
  const ProductPlan plan(path_, head, n, path_.column_block(),
                         executor.threads());
  const int chunks[] = {1, plan.chunks()};
  executor.RunPhases(chunks, [&](int phase, int chunk) {
    if (phase == 0) {
      path_.PackRows(head, hidden, d, 0, n, operand_.data());
      return;
    }
    const ProductPlan::Chunk at = plan.chunk(chunk);
    const float* y = RunProduct(path_, head, operand_.data(), at);
    for (int r = 0; r < at.rows; ++r) {
      float* to = logits + static_cast<size_t>(at.row + r) * vocab +
                  static_cast<size_t>(at.column);
      const int columns = std::min(at.columns, c.vocab_size - at.column);
      std::copy_n(y + static_cast<size_t>(r) * at.stride(), columns, to);
      ScaleLogits(c, columns, to);
    }
  });
}

void KernelTrunk::Head(const float* hidden, int n, float* out) {
  net_.head.Apply(hidden, n, out);
}

void KernelTrunk::Rewards(const float* hidden, int n, StepScores* scores) {
  ESP_CHECK(net_.config.reward_head);
  net_.head.Rewards(hidden, n, scores);
}

}  // namespace espalier
