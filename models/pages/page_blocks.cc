#include "models/pages/page_blocks.h"

#include <cstring>
#include <new>

namespace espalier {
namespace {

// A vector register of AVX-512 and a cache line.
constexpr std::align_val_t kAlignment{64};

}  // namespace

void PageBlocks::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, kAlignment);
}

void PageBlocks::Grow(int pages) {
  if (pages <= total_) return;
  const size_t bytes = static_cast<size_t>(page_bytes_ * (pages - total_));
  chunks_.emplace_back(
      static_cast<std::byte*>(::operator new[](bytes, kAlignment)));
  std::byte* const chunk = chunks_.back().get();
#ifndef NDEBUG
  std::memset(chunk, 0xFF, bytes);  // NaN as fp32, fp16 and bf16
#endif
  for (int64_t at = 0; at < static_cast<int64_t>(bytes); at += page_bytes_) {
    pages_.push_back(chunk + at);
  }
  total_ = pages;
}

}  // namespace espalier
