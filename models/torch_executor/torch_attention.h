// Attention over pages in tensor operations, after an AttentionPlan: of each
// batch of units the pages are gathered by index_select, scores and sums are
// batched products, and a row's results over several units are merged by their
// log-sum-exp (as in Dao et al. 2023, "Flash-Decoding").
//
//   IndexUpload upload;
//   TorchAttention attention(config, plan, upload);
//   upload.Send(device);
//   attention.Prepare(upload);
//   for each layer: attended = attention.Run(queries, pages, layer);
//
// For one pass. Externally synchronised.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_

#include <ATen/ATen.h>

#include <vector>

#include "models/checkpoint/trunk_config.h"
#include "models/torch_executor/attention_plan.h"
#include "models/torch_executor/index_upload.h"
#include "models/torch_executor/torch_pages.h"

namespace espalier {

// Scratch memory of one row and key, and of one key, for this network.
AttentionLimits LimitsFor(const TrunkConfig& config, at::Device device,
                          at::ScalarType dtype);

class TorchAttention {
 public:
  // Both outlive this object.
  TorchAttention(const TrunkConfig& config, const AttentionPlan& plan,
                 IndexUpload& upload);
  // Makes what all layers use again, once `upload` has been sent.
  void Prepare(const IndexUpload& upload);

  // [rows, heads head_dim], fp32, of queries [rows, heads, head_dim] that are
  // scaled and have the pages' dtype.
  at::Tensor Run(const at::Tensor& queries, const TorchPages& pages, int layer);

 private:
  struct Batch {
    IndexUpload::Range row_index, row_positions, page_ids, page_positions;
    at::Tensor rows;    // [units rows]
    at::Tensor blocks;  // [units kv_heads pages], of the pages' blocks
    at::Tensor hidden;  // [units, 1, rows, 1, keys] bool; undefined: none
  };
  void RunBatch(const AttentionBatch& shape, const Batch& batch,
                const at::Tensor& queries, const at::Tensor& keys,
                const at::Tensor& values);
  at::Tensor Merge() const;

  const TrunkConfig& c_;
  const AttentionPlan& plan_;
  const int64_t group_;  // query heads of a KV head
  std::vector<Batch> batches_;
  IndexUpload::Range parts_range_;
  at::Tensor parts_;  // [parts, rows]
  // Of all units' rows, padding too, and one row that counts for nothing.
  at::Tensor results_;  // [results + 1, heads, head_dim], fp32
  at::Tensor log_sum_;  // [results + 1, heads], fp32
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_
