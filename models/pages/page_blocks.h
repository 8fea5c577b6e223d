// Numbered memory blocks of equal size that never move: storage for pages.
#ifndef ESPALIER_MODELS_PAGES_PAGE_BLOCKS_H_
#define ESPALIER_MODELS_PAGES_PAGE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/huge_memory.h"
#include "models/pages/page_memory.h"

namespace espalier {

class PageBlocks {
 public:
  explicit PageBlocks(int64_t page_bytes) : page_bytes_(page_bytes) {
    ESP_CHECK(page_bytes > 0 && page_bytes % 64 == 0);
  }

  int64_t page_bytes() const { return page_bytes_; }
  // Makes pages 0 .. pages-1 exist. In checked builds new pages hold NaN, so
  // that a read of an unwritten slot shows.
  void Grow(int pages);
  // Aligned to 64 bytes.
  std::byte* page(PageId page) {
    ESP_DCHECK(page >= 0 && page < total_);
    return pages_[static_cast<size_t>(page)];
  }

 private:
  int64_t page_bytes_;
  int total_ = 0;
  std::vector<HugeMemory> chunks_;
  std::vector<std::byte*> pages_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PAGE_BLOCKS_H_
