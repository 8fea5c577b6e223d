// Tracks which pages of a trunk's key/value memory are in use.
//
// Pages are reference counted: forks share full pages and copy the filled part
// of the page they fork in (explicitly, by CopyPrefix). Externally
// synchronised.
#ifndef ESPALIER_MODELS_PAGES_PAGE_POOL_H_
#define ESPALIER_MODELS_PAGES_PAGE_POOL_H_

#include <cstdint>
#include <vector>

#include "models/pages/page_memory.h"

namespace espalier {

class PagePool {
 public:
  // `max_bytes` bounds the total allocation; memory grows in chunks. `memory`
  // outlives the pool and is used only by the pool.
  PagePool(PageMemory& memory, int64_t max_bytes);

  // A page with one reference and undefined content, or -1 at the limit (the
  // caller evicts and retries).
  PageId Allocate();
  void AddRef(PageId page);
  void Release(PageId page);  // frees at zero references
  // True if `page` has more than one reference.
  bool shared(PageId page) const {
    return refs_[static_cast<size_t>(page)] > 1;
  }
  // Copies slots [0, filled) of all layers from `from` to `to`.
  void CopyPrefix(PageId from, PageId to, int filled) {
    memory_.CopyPrefix(from, to, filled);
  }

  PageMemory& memory() { return memory_; }
  int64_t page_bytes() const { return memory_.page_bytes(); }
  int used() const { return used_; }           // pages with references
  int free() const { return total_ - used_; }  // allocated but unused pages
  int total() const { return total_; }         // used + free
  int capacity() const { return capacity_; }   // page limit

 private:
  PageMemory& memory_;
  int capacity_ = 0;
  int used_ = 0;
  int total_ = 0;
  std::vector<int32_t> refs_;
  std::vector<PageId> free_list_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PAGE_POOL_H_
