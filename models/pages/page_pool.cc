#include "models/pages/page_pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "src/base/check.h"

namespace espalier {
namespace {

// Memory grows by this much: large enough that few allocations are made,
// small enough that a short run stays small.
constexpr int64_t kChunkBytes = int64_t{8} << 20;
// A vector register of AVX-512 and a cache line.
constexpr std::align_val_t kAlignment{64};

int64_t FloatsPerPage(const PageShape& shape) {
  ESP_CHECK(shape.layers > 0 && shape.kv_heads > 0 && shape.head_dim > 0);
  return int64_t{2} * shape.layers * shape.kv_heads * shape.head_dim *
         kPageSlots;
}

}  // namespace

void PagePool::Free::operator()(float* memory) const {
  ::operator delete[](memory, kAlignment);
}

PagePool::PagePool(PageShape shape, int64_t max_bytes)
    : shape_(shape), page_floats_(FloatsPerPage(shape)) {
  capacity_ = static_cast<int>(std::clamp<int64_t>(
      max_bytes / page_bytes(), 0, std::numeric_limits<PageId>::max() / 2));
  pages_per_chunk_ =
      static_cast<int>(std::max<int64_t>(1, kChunkBytes / page_bytes()));
}

PagePool::~PagePool() = default;

PageId PagePool::Allocate() {
  if (free_list_.empty()) {
    if (total_ == capacity_) return -1;
    const int grow = std::min(pages_per_chunk_, capacity_ - total_);
    const size_t bytes = static_cast<size_t>(page_bytes() * grow);
    chunks_.emplace_back(
        static_cast<float*>(::operator new[](bytes, kAlignment)));
    refs_.resize(static_cast<size_t>(total_ + grow), 0);
    // The lowest id is handed out first.
    for (int i = grow; i-- > 0;) free_list_.push_back(total_ + i);
    total_ += grow;
  }
  const PageId page = free_list_.back();
  free_list_.pop_back();
  refs_[static_cast<size_t>(page)] = 1;
  ++used_;
#ifndef NDEBUG
  // Whoever reads a slot before it is written gets NaN.
  std::fill_n(Page(page), page_floats_,
              std::numeric_limits<float>::quiet_NaN());
#endif
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

void PagePool::CopyPrefix(PageId from, PageId to, int filled) {
  ESP_CHECK(filled >= 0 && filled <= kPageSlots);
  const size_t bytes = static_cast<size_t>(filled) * sizeof(float);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    for (int head = 0; head < shape_.kv_heads; ++head) {
      const float* source = keys(from, layer, head);
      float* target = keys(to, layer, head);
      for (int i = 0; i < shape_.head_dim; ++i) {
        std::memcpy(target + i * kPageSlots, source + i * kPageSlots, bytes);
      }
      std::memcpy(values(to, layer, head), values(from, layer, head),
                  bytes * static_cast<size_t>(shape_.head_dim));
    }
  }
}

float* PagePool::Page(PageId page) const {
  ESP_DCHECK(page >= 0 && page < total_);
  return chunks_[static_cast<size_t>(page / pages_per_chunk_)].get() +
         page % pages_per_chunk_ * page_floats_;
}

float* PagePool::keys(PageId page, int layer, int kv_head) {
  ESP_DCHECK(layer >= 0 && layer < shape_.layers);
  ESP_DCHECK(kv_head >= 0 && kv_head < shape_.kv_heads);
  return Page(page) + (int64_t{layer} * shape_.kv_heads + kv_head) * 2 *
                          shape_.head_dim * kPageSlots;
}

float* PagePool::values(PageId page, int layer, int kv_head) {
  return keys(page, layer, kv_head) + int64_t{shape_.head_dim} * kPageSlots;
}

}  // namespace espalier
