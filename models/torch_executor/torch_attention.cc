#include "models/torch_executor/torch_attention.h"

#include <utility>

namespace espalier {
namespace {

// The score of a masked key: low enough to weigh nothing next to any visible
// key, and finite, so that a unit whose row sees no key needs no special case:
// its results weigh nothing in the merge.
constexpr double kUnseen = -1e30;
// Scratch memory: sized for the caches on a CPU, and to keep long batches whole
// on a GPU.
constexpr int64_t kHostScratch = int64_t{32} << 20;
constexpr int64_t kDeviceScratch = int64_t{512} << 20;
// Bytes that memory delivers in the time it takes to start a batch's
// operations, about 10 us (CPU) and 50 us (GPU).
constexpr int64_t kHostSmall = int64_t{128} << 10;
constexpr int64_t kDeviceSmall = int64_t{16} << 20;

}  // namespace

AttentionLimits LimitsFor(const TrunkConfig& c, int window, at::Device device,
                          at::ScalarType dtype) {
  const int64_t element = static_cast<int64_t>(c10::elementSize(dtype));
  AttentionLimits limits;
  limits.window = window;
  // Scores in fp32, briefly twice, and in the pages' dtype.
  limits.row_key_bytes = c.heads * (8 + element);
  limits.key_bytes = 2 * element * c.kv_heads * c.head_dim;
  limits.most_bytes = device.is_cpu() ? kHostScratch : kDeviceScratch;
  limits.small_bytes = device.is_cpu() ? kHostSmall : kDeviceSmall;
  return limits;
}

TorchAttention::TorchAttention(const TrunkConfig& config, int window,
                               AttentionPlan plan, IndexUpload& upload)
    : c_(config),
      window_(window),
      plan_(std::move(plan)),
      group_(config.heads / config.kv_heads) {
  for (const AttentionBatch& batch : plan_.batches) {
    Batch& out = batches_.emplace_back();
    out.row_index = upload.Add(batch.row_index);
    out.page_ids = upload.Add(batch.page_ids);
    if (!batch.masked) continue;
    out.row_positions = upload.Add(batch.row_positions);
    out.page_positions = upload.Add(batch.page_positions);
  }
  parts_range_ = upload.Add(plan_.part_index);
}

void TorchAttention::Prepare(const IndexUpload& upload) {
  parts_ = upload.at(parts_range_).view({plan_.parts, plan_.rows});
  const at::TensorOptions integers = parts_.options();
  const at::Tensor heads = at::arange(c_.kv_heads, integers).view({1, -1, 1});
  const at::Tensor slots = at::arange(kPageSlots, integers);
  for (size_t i = 0; i < batches_.size(); ++i) {
    const AttentionBatch& shape = plan_.batches[i];
    Batch& batch = batches_[i];
    batch.rows = upload.at(batch.row_index);
    batch.blocks =
        (upload.at(batch.page_ids).view({shape.units, 1, shape.pages}) *
             c_.kv_heads +
         heads)
            .flatten();
    if (!shape.masked) continue;
    const at::Tensor rows =
        upload.at(batch.row_positions).view({shape.units, 1, shape.rows, 1, 1});
    const at::Tensor keys =
        (upload.at(batch.page_positions).view({shape.units, shape.pages, 1}) +
         slots)
            .view({shape.units, 1, 1, 1, -1});
    batch.hidden = keys > rows;
    if (window_ > 0) {
      batch.hidden.logical_or_(keys <= rows - window_);
    }
  }
  const at::TensorOptions floats = integers.dtype(at::kFloat);
  results_ = at::empty({plan_.results + 1, c_.heads, c_.head_dim}, floats);
  log_sum_ = at::empty({plan_.results + 1, c_.heads}, floats);
  results_.select(0, plan_.results).zero_();
  log_sum_.select(0, plan_.results).fill_(kUnseen);
}

at::Tensor TorchAttention::Run(const at::Tensor& queries,
                               const TorchPages& pages, int layer) {
  const at::Tensor keys = pages.key_blocks(layer);
  const at::Tensor values = pages.value_blocks(layer);
  for (size_t i = 0; i < batches_.size(); ++i) {
    RunBatch(plan_.batches[i], batches_[i], queries, keys, values);
  }
  return Merge().view({plan_.rows, int64_t{c_.heads} * c_.head_dim});
}

// U units of R rows, K = 64 P keys, H KV heads, each with G query heads.
void TorchAttention::RunBatch(const AttentionBatch& shape, const Batch& batch,
                              const at::Tensor& queries, const at::Tensor& keys,
                              const at::Tensor& values) {
  const int64_t units = shape.units, rows = shape.rows, h = c_.head_dim;
  const int64_t count = int64_t{shape.pages} * kPageSlots;
  const int64_t products = units * c_.kv_heads;
  const auto gather = [&](const at::Tensor& blocks) {
    return blocks.index_select(0, batch.blocks).view({products, count, h});
  };
  const at::Tensor q = queries.index_select(0, batch.rows)
                           .view({units, rows, c_.kv_heads, group_, h})
                           .permute({0, 2, 1, 3, 4})
                           .reshape({products, rows * group_, h});
  // [U H, R G, K]
  at::Tensor scores = at::bmm(q, gather(keys).transpose(1, 2)).to(at::kFloat);
  if (c_.attention_cap > 0) {
    scores.div_(c_.attention_cap).tanh_().mul_(c_.attention_cap);
  }
  if (batch.hidden.defined()) {
    scores.view({units, c_.kv_heads, rows, group_, count})
        .masked_fill_(batch.hidden, kUnseen);
  }
  const at::Tensor most = scores.amax({-1}, /*keepdim=*/true);
  scores.sub_(most).exp_();
  const at::Tensor sum = scores.sum(-1, /*keepdim=*/true);
  const at::Tensor out =
      at::bmm(scores.to(values.scalar_type()), gather(values)).to(at::kFloat) /
      sum;
  results_.narrow(0, shape.first_result, units * rows)
      .view({units, rows, c_.kv_heads, group_, h})
      .copy_(out.view({units, c_.kv_heads, rows, group_, h})
                 .permute({0, 2, 1, 3, 4}));
  log_sum_.narrow(0, shape.first_result, units * rows)
      .view({units, rows, c_.kv_heads, group_})
      .copy_((most + sum.log())
                 .view({units, c_.kv_heads, rows, group_})
                 .permute({0, 2, 1, 3}));
}

at::Tensor TorchAttention::Merge() const {
  if (plan_.parts == 1) return results_.index_select(0, parts_.select(0, 0));
  const at::Tensor shares =
      at::softmax(log_sum_.index_select(0, parts_.flatten())
                      .view({plan_.parts, plan_.rows, c_.heads, 1}),
                  /*dim=*/0);
  at::Tensor out =
      at::zeros({plan_.rows, c_.heads, c_.head_dim}, results_.options());
  for (int i = 0; i < plan_.parts; ++i) {
    out.addcmul_(results_.index_select(0, parts_.select(0, i)),
                 shares.select(0, i));
  }
  return out;
}

}  // namespace espalier
