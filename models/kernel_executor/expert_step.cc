#include "models/kernel_executor/expert_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/kernel_executor/gated_columns.h"
#include "models/kernel_executor/product_plan.h"
#include "models/kernels/kernels.h"

namespace espalier {
namespace {

// Columns of a product at a time: with a block of rows they stay in the L2
// cache. A multiple of every path's column block.
constexpr int kColumns = 1024;

template <class T>
void Grow(std::vector<T>& v, size_t size) {
  if (v.size() < size) v.resize(size);
}

// Calls fn(chunk, y) for all columns of rows [0, rows) of the operand.
template <class Fn>
void EachColumns(const KernelPath& path, const Weights& w,
                 const std::vector<std::byte>& operand, int rows,
                 const Fn& fn) {
  for (int c = 0; c < w.n(); c += kColumns) {
    const ProductPlan::Chunk at = {.row = 0,
                                   .rows = rows,
                                   .column = c,
                                   .columns = std::min(kColumns, w.n() - c)};
    fn(at, RunProduct(path, w, operand.data(), at));
  }
}

}  // namespace

void ExpertStep::Begin(const Network& net, const KernelPath& path, int rows) {
  net_ = &net;
  path_ = &path;
  rows_ = rows;
  const size_t n = static_cast<size_t>(rows);
  Grow(normed_, n * d());
  Grow(experts_, n * chosen());
  Grow(shares_, n * chosen());
  Grow(results_, n * chosen() * d());
}

void ExpertStep::Route(const NetworkLayer& layer, int row, int count,
                       const float* normed) {
  const size_t first = static_cast<size_t>(row);
  std::copy_n(normed, static_cast<size_t>(count) * d(),
              normed_.data() + first * d());
  thread_local std::vector<float> logits;
  const int experts = config().experts;
  const size_t stride = static_cast<size_t>(PadToPanel(experts));
  Grow(logits, static_cast<size_t>(count) * stride);
  MatMul(normed, d(), count, *layer.router, 0, experts, logits.data(), stride);
  for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
    Choose(logits.data() + r * stride, first + r);
  }
}

// Writes experts_ and shares_ of the row.
void ExpertStep::Choose(const float* logits, size_t row) {
  const size_t k = chosen(), n = static_cast<size_t>(config().experts);
  thread_local std::vector<int> order;
  order.resize(n);
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(k);
  std::partial_sort(order.begin(), end, order.end(), [&](int a, int b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  const float highest = logits[order[0]];
  double total = 0;
  const size_t summed = config().expert_shares_sum_to_one ? k : n;
  for (size_t i = 0; i < summed; ++i) {
    total += std::exp(static_cast<double>(logits[order[i]] - highest));
  }
  std::sort(order.begin(), end);
  for (size_t i = 0; i < k; ++i) {
    experts_[row * k + i] = order[i];
    shares_[row * k + i] = static_cast<float>(
        std::exp(static_cast<double>(logits[order[i]] - highest)) / total);
  }
}

void ExpertStep::RunExpert(const NetworkLayer& layer, int e) {
  thread_local std::vector<Slot> slots;
  slots.clear();
  const size_t all = static_cast<size_t>(rows_) * chosen();
  for (Slot slot = 0; slot < all; ++slot) {
    if (experts_[slot] == e) slots.push_back(slot);
  }
  const ExpertWeights& expert = layer.experts[static_cast<size_t>(e)];
  const size_t block = static_cast<size_t>(path_->row_block());
  for (size_t i = 0; i < slots.size(); i += block) {
    RunBlock(expert, slots.data() + i,
             static_cast<int>(std::min(block, slots.size() - i)));
  }
}

// 1. The rows' inputs as an operand; 2. gate and up, activated; 3. down.
void ExpertStep::RunBlock(const ExpertWeights& expert, const Slot* slots,
                          int count) {
  thread_local std::vector<std::byte> operand;
  thread_local std::vector<float> hidden;
  Grow(operand, std::max(path_->OperandBytes(*expert.up, count),
                         path_->OperandBytes(*expert.down, count)));
  for (int i = 0; i < count; ++i) {
    path_->PackRows(*expert.up, normed_.data() + slots[i] / chosen() * d(), d(),
                    i, 1, operand.data());
  }
  const int f = config().intermediate_size;
  const size_t width = static_cast<size_t>(f);
  Grow(hidden, static_cast<size_t>(count) * width);
  EachColumns(*path_, *expert.up, operand, count,
              [&](const ProductPlan::Chunk& at, float* y) {
                const int from = at.column / 2;
                const int columns = std::min(at.columns / 2, f - from);
                for (int r = 0; r < count; ++r, y += at.stride()) {
                  ActivateGated(config().activation, path_->column_block(),
                                at.columns, y);
                  std::copy_n(y, columns,
                              hidden.data() + static_cast<size_t>(r) * width +
                                  static_cast<size_t>(from));
                }
              });
  path_->PackRows(*expert.down, hidden.data(), width, 0, count, operand.data());
  EachColumns(*path_, *expert.down, operand, count,
              [&](const ProductPlan::Chunk& at, float* y) {
                for (int r = 0; r < count; ++r, y += at.stride()) {
                  std::copy_n(y, at.columns,
                              results_.data() + slots[r] * d() +
                                  static_cast<size_t>(at.column));
                }
              });
}

void ExpertStep::Mix(int row, int count, float* out) const {
  std::fill_n(out, static_cast<size_t>(count) * d(), 0.0f);
  for (int r = 0; r < count; ++r, out += d()) {
    const size_t first = static_cast<size_t>(row + r) * chosen();
    for (Slot slot = first; slot < first + chosen(); ++slot) {
      const float share = shares_[slot];
      const float* result = results_.data() + slot * d();
      for (size_t i = 0; i < d(); ++i) out[i] += share * result[i];
    }
  }
}

}  // namespace espalier
