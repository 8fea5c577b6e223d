#include "models/pages/plain_pages.h"

#include <cstring>

#include "base/check.h"

namespace espalier {
namespace {

int64_t BytesPerPage(const PageShape& shape) {
  ESP_CHECK(shape.layers > 0 && shape.kv_heads > 0 && shape.head_dim > 0);
  return int64_t{8} * shape.layers * shape.kv_heads * shape.head_dim *
         kPageSlots;
}

}  // namespace

PlainPages::PlainPages(PageShape shape)
    : shape_(shape), blocks_(BytesPerPage(shape)) {}

void PlainPages::CopyPrefix(PageId from, PageId to, int filled) {
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

}  // namespace espalier
