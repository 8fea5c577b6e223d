// Trunk over the kernels of models/kernels.
//
// A Forward is a sequence of phases, each cut into chunks of a few
// microseconds that threads take as they come:
//
//   embed     rows of the embedding; pages are told which slots begin
//   of each layer:
//     norm    the residual's norm, as an operand
//     heads   products of queries, keys and values; rotation; into the pages
//     attend  a KV head's queries of neighbouring rows over their pages
//     output  product, bias, onto the residual
//     norm    again
//     up      products of gate and up, activation
//     down    product, bias, onto the residual
//   final     norm of the rows that are asked for
//
// A chunk of a product is some columns of some rows, so that each weight is
// read once for all rows and by one thread.
#include "models/cpu/cpu_trunk.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/cpu/forward_step.h"
#include "src/base/check.h"

namespace espalier {

CpuTrunk::CpuTrunk(Network network, const KernelPath& path)
    : net_(std::move(network)), path_(path), rope_(net_.config) {}

std::unique_ptr<PageMemory> CpuTrunk::NewPages() const {
  const TrunkConfig& c = net_.config;
  return path_.NewPages({c.layers, c.kv_heads, c.head_dim});
}

void CpuTrunk::Forward(absl::Span<const Segment> segments, PageMemory& pages,
                       Executor& executor) {
  const TrunkConfig& c = net_.config;
  int length = 0;
  for (const Segment& s : segments) {
    length = std::max(length, s.start + static_cast<int>(s.tokens.size()));
  }
  if (!c.learned_positions) rope_.Reach(length);
  step_.Begin(net_, path_, rope_, segments, pages, executor.threads());
  executor.RunPhases(step_.chunks(),
                     [&](int phase, int chunk) { step_.Run(phase, chunk); });
}

void CpuTrunk::Logits(const float* hidden, int n, float* logits,
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
      path_.PutRows(head, hidden, d, 0, n, operand_.data());
      return;
    }
    const ProductPlan::Chunk at = plan.chunk(chunk);
    const float* y = RunProduct(path_, head, operand_.data(), at);
    for (int r = 0; r < at.rows; ++r) {
      std::copy_n(y + static_cast<size_t>(r) * at.stride(),
                  std::min(at.columns, c.vocab_size - at.column),
                  logits + static_cast<size_t>(at.row + r) * vocab +
                      static_cast<size_t>(at.column));
    }
  });
}

void CpuTrunk::Head(const float* hidden, int n, float* out) {
  const size_t d = static_cast<size_t>(net_.config.hidden_size);
  const size_t labels = net_.head.size() / d;
  ESP_CHECK(labels > 0);
  for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
    for (size_t label = 0; label < labels; ++label) {
      double sum = net_.head_bias.empty() ? 0 : net_.head_bias[label];
      for (size_t i = 0; i < d; ++i) {
        sum +=
            static_cast<double>(hidden[r * d + i]) * net_.head[label * d + i];
      }
      out[r * labels + label] = static_cast<float>(sum);
    }
  }
}

void CpuTrunk::Rewards(const float* hidden, int n, LevelScores* scores) {
  ESP_CHECK(net_.config.reward_head);
  std::vector<float> out(static_cast<size_t>(n) * 2);
  Head(hidden, n, out.data());
  const auto logistic = [](float x) { return 1 / (1 + std::exp(-x)); };
  for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
    scores[r] = {.step = logistic(out[2 * r]),
                 .path = logistic(out[2 * r + 1])};
  }
}

}  // namespace espalier
