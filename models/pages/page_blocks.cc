#include "models/pages/page_blocks.h"

#include <cstring>

namespace espalier {

void PageBlocks::Grow(int pages) {
  if (pages <= total_) return;
  const size_t bytes = static_cast<size_t>(page_bytes_ * (pages - total_));
  chunks_.emplace_back(bytes);
  std::byte* const chunk = chunks_.back().data();
#ifndef NDEBUG
  std::memset(chunk, 0xFF, bytes);  // NaN as fp32, fp16 and bf16
#endif
  for (size_t at = 0; at < bytes; at += static_cast<size_t>(page_bytes_)) {
    pages_.push_back(chunk + at);
  }
  total_ = pages;
}

}  // namespace espalier
