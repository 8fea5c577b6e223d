// Key/value memory of one trunk in pages of 64 slots at absolute positions.
//
// A page holds, for every layer and KV head, the keys and values of positions
// 64*i .. 64*i+63 of some path. Keys are stored transposed so that the scores
// of 64 keys are one run of vector lanes:
//
//   page:  layer 0: head 0: K^T [head_dim][64] | V [64][head_dim]
//                   head 1: K^T ...            | V ...
//          layer 1: ...
//
// Pages are reference counted: forks share full pages and copy the filled
// part of the page they fork in (CopyPrefix, by name, never implicitly).
// Externally synchronised, except that different pages may be written by
// different threads.
#ifndef ESPALIER_MODELS_PAGES_PAGE_POOL_H_
#define ESPALIER_MODELS_PAGES_PAGE_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace espalier {

using PageId = int32_t;
// Slots a page. Also the block in which attention sums keys, so that the sum
// has one order however pages are shared.
inline constexpr int kPageSlots = 64;

struct PageShape {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
};

class PagePool {
 public:
  // `max_bytes` bounds what is ever allocated; memory grows in chunks.
  PagePool(PageShape shape, int64_t max_bytes);
  ~PagePool();

  // A page with one reference and undefined content, or -1 when the limit is
  // reached (the caller evicts and asks again).
  PageId Allocate();
  void AddRef(PageId page);
  void Release(PageId page);  // frees at zero references
  // Copies slots [0, filled) of all layers from `from` to `to`.
  void CopyPrefix(PageId from, PageId to, int filled);

  // fp32, [head_dim][64] and [64][head_dim].
  float* keys(PageId page, int layer, int kv_head);
  float* values(PageId page, int layer, int kv_head);

  const PageShape& shape() const { return shape_; }
  int64_t page_bytes() const { return page_floats_ * 4; }
  int used() const { return used_; }           // pages with references
  int free() const { return total_ - used_; }  // allocated but unused pages
  int total() const { return total_; }         // used + free
  int capacity() const { return capacity_; }   // most pages the limit allows

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  float* Page(PageId page) const;

  PageShape shape_;
  int64_t page_floats_ = 0;
  int pages_per_chunk_ = 0;
  int capacity_ = 0;
  int used_ = 0;
  int total_ = 0;
  std::vector<std::unique_ptr<float[], Free>> chunks_;  // 64-byte aligned
  std::vector<int32_t> refs_;
  std::vector<PageId> free_list_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PAGE_POOL_H_
