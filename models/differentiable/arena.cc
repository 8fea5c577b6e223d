#include "models/differentiable/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace espalier::net {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

Arena::~Arena() {
  for (const Block& block : blocks_) std::free(block.data);
}

void* Arena::Allocate(size_t bytes) {
  bytes = RoundUp(std::max<size_t>(bytes, 1), 64);
  if (blocks_.empty() || used_ + bytes > blocks_.back().size) {
    const size_t last = blocks_.empty() ? 0 : blocks_.back().size;
    const size_t size = RoundUp(std::max(bytes, last), kHugePage);
    auto* data = static_cast<char*>(std::aligned_alloc(kHugePage, size));
    ESP_CHECK(data != nullptr);
    // A hint: fewer TLB misses where the kernel grants huge pages.
    madvise(data, size, MADV_HUGEPAGE);
    blocks_.push_back({data, size});
    used_ = 0;
  }
  void* out = blocks_.back().data + used_;
  used_ += bytes;
  return out;
}

void Arena::Reset() {
  if (blocks_.size() > 1) {
    size_t total = 0;
    for (const Block& block : blocks_) {
      total += block.size;
      std::free(block.data);
    }
    blocks_.clear();
    Allocate(total);
  }
  used_ = 0;
}

}  // namespace espalier::net
