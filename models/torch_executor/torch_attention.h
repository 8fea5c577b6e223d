// Attention over pages in tensor operations, following an AttentionPlan: for
// each batch of units, pages are gathered by index_select, scores and sums are
// batched products, and a row's results over several units are merged by
// log-sum-exp (as in Dao et al. 2023, "Flash-Decoding").
//
//   IndexUpload upload;
//   TorchAttention attention(config, plan, upload);
//   upload.Send(device);
//   attention.Prepare(upload);
//   for each layer: attended = attention.Run(queries, pages, layer);
//
// One object per pass. Externally synchronised.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_

#include <ATen/ATen.h>

#include <vector>

#include "models/checkpoint/trunk_config.h"
#include "models/torch_executor/attention_plan.h"
#include "models/torch_executor/index_upload.h"
#include "models/torch_executor/torch_pages.h"

namespace espalier {

// Limits for layers of this network with the window, or without one: scratch
// memory per row and key, and per key.
AttentionLimits LimitsFor(const TrunkConfig& config, int window,
                          at::Device device, at::ScalarType dtype);

class TorchAttention {
 public:
  // Of layers with this window; 0: none. `config` must outlive this object.
  TorchAttention(const TrunkConfig& config, int window, AttentionPlan plan,
                 IndexUpload& upload);
  // Computes what all layers share; call after upload.Send.
  void Prepare(const IndexUpload& upload);

  // Returns [rows, heads head_dim], fp32. `queries` [rows, heads, head_dim]
  // must be scaled and have the pages' dtype.
  at::Tensor Run(const at::Tensor& queries, const TorchPages& pages, int layer);

 private:
  struct Batch {
    IndexUpload::Range row_index, row_positions, page_ids, page_positions;
    at::Tensor rows;    // [units rows]
    at::Tensor blocks;  // [units kv_heads pages], indices of blocks
    at::Tensor hidden;  // [units, 1, rows, 1, keys] bool; undefined: no mask
  };
  void RunBatch(const AttentionBatch& shape, const Batch& batch,
                const at::Tensor& queries, const at::Tensor& keys,
                const at::Tensor& values);
  at::Tensor Merge() const;

  const TrunkConfig& c_;
  const int window_;
  const AttentionPlan plan_;
  const int64_t group_;  // query heads per KV head
  std::vector<Batch> batches_;
  IndexUpload::Range parts_range_;
  at::Tensor parts_;  // [parts, rows]
  // Of all units' rows, padding included, and one row that is ignored.
  at::Tensor results_;  // [results + 1, heads, head_dim], fp32
  at::Tensor log_sum_;  // [results + 1, heads], fp32
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_ATTENTION_H_
