#include "models/pages/page_pool.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace espalier {
namespace {

// Memory grows in these steps: large enough for few allocations, small enough
// for short runs to stay small.
constexpr int64_t kChunkBytes = int64_t{8} << 20;

}  // namespace

PagePool::PagePool(PageMemory& memory, int64_t max_bytes) : memory_(memory) {
  capacity_ = static_cast<int>(std::clamp<int64_t>(
      max_bytes / page_bytes(), 0, std::numeric_limits<PageId>::max() / 2));
}

PageId PagePool::Allocate() {
  if (free_list_.empty()) {
    if (total_ == capacity_) return -1;
    const int grow = static_cast<int>(
        std::clamp<int64_t>(kChunkBytes / page_bytes(), 1, capacity_ - total_));
    memory_.Grow(total_ + grow);
    refs_.resize(static_cast<size_t>(total_ + grow), 0);
    // Lowest id first.
    for (int i = grow; i-- > 0;) free_list_.push_back(total_ + i);
    total_ += grow;
  }
  const PageId page = free_list_.back();
  free_list_.pop_back();
  refs_[static_cast<size_t>(page)] = 1;
  ++used_;
  return page;
}

void PagePool::AddRef(PageId page) {
  ESP_CHECK(page >= 0 && page < total_ && refs_[static_cast<size_t>(page)] > 0);
  ++refs_[static_cast<size_t>(page)];
}

void PagePool::Release(PageId page) {
  ESP_CHECK(page >= 0 && page < total_ && refs_[static_cast<size_t>(page)] > 0);
  if (--refs_[static_cast<size_t>(page)] > 0) return;
  free_list_.push_back(page);
  --used_;
}

}  // namespace espalier
