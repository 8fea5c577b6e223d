// Pages of fp32 keys and values. Keys are stored transposed so that the scores
// of 64 keys are consecutive SIMD lanes:
//
//   page:  layer 0: head 0: K^T [head_dim][64] | V [64][head_dim]
//                   head 1: K^T ...            | V ...
//          layer 1: ...
#ifndef ESPALIER_MODELS_PAGES_PLAIN_PAGES_H_
#define ESPALIER_MODELS_PAGES_PLAIN_PAGES_H_

#include <cstdint>

#include "models/pages/page_blocks.h"
#include "models/pages/page_memory.h"

namespace espalier {

struct PageShape {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
};

class PlainPages : public PageMemory {
 public:
  explicit PlainPages(PageShape shape);

  int64_t page_bytes() const override { return blocks_.page_bytes(); }
  void Grow(int pages) override { blocks_.Grow(pages); }
  void CopyPrefix(PageId from, PageId to, int filled) override;

  const PageShape& shape() const { return shape_; }
  // [head_dim][64] and [64][head_dim], aligned to 64 bytes.
  float* keys(PageId page, int layer, int kv_head) {
    return reinterpret_cast<float*>(blocks_.page(page)) +
           (int64_t{layer} * shape_.kv_heads + kv_head) * 2 * shape_.head_dim *
               kPageSlots;
  }
  float* values(PageId page, int layer, int kv_head) {
    return keys(page, layer, kv_head) + int64_t{shape_.head_dim} * kPageSlots;
  }

 private:
  PageShape shape_;
  PageBlocks blocks_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PLAIN_PAGES_H_
