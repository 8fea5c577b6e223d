// Pages of keys and values as one tensor on a device:
//
//   store [2 layers, pages, kv_heads, 64, head_dim]   K of layer 0, V of layer
//                                                     0, K of layer 1, ...
//
// so that gathering the pages of an attention unit is one index_select of whole
// [64, head_dim] blocks, and copying a fork is one operation. New slots are
// zero: masked slots must not be NaN.
//
// Externally synchronised. Grow throws std::runtime_error when the device runs
// out of memory.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_PAGES_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_PAGES_H_

#include <ATen/ATen.h>

#include <string>

#include "models/checkpoint/trunk_config.h"
#include "models/pages/page_memory.h"

namespace espalier {

class TorchPages : public PageMemory {
 public:
  // `options` gives dtype and device. The first Grow allocates `reserve_bytes`
  // at once: tensors do not grow in place.
  TorchPages(const TrunkConfig& config, const at::TensorOptions& options,
             int64_t reserve_bytes);

  int64_t page_bytes() const override { return page_bytes_; }
  void Grow(int pages) override;
  void CopyPrefix(PageId from, PageId to, int filled) override;

  // [pages kv_heads, 64, head_dim] of a layer: block page * kv_heads + head.
  at::Tensor key_blocks(int layer) const { return Blocks(2 * layer); }
  at::Tensor value_blocks(int layer) const { return Blocks(2 * layer + 1); }

 private:
  at::Tensor Blocks(int i) const { return store_.select(0, i).flatten(0, 1); }
  int64_t capacity() const { return store_.size(1); }

  const std::string device_;
  const int64_t page_bytes_;
  const int64_t reserve_pages_;
  at::Tensor store_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_PAGES_H_
