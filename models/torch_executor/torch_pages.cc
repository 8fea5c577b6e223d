#include "models/torch_executor/torch_pages.h"

#include <algorithm>

#include "base/check.h"
#include "models/torch_executor/torch_api.h"

namespace espalier {

TorchPages::TorchPages(const TrunkConfig& c, const at::TensorOptions& options,
                       int64_t reserve_bytes)
    : device_(options.device().str()),
      page_bytes_(int64_t{2} * c.layers * c.kv_heads * kPageSlots * c.head_dim *
                  static_cast<int64_t>(options.dtype().itemsize())),
      reserve_pages_(reserve_bytes / page_bytes_) {
  OnDevice(device_, [&] {
    store_ = at::zeros({2 * c.layers, 0, c.kv_heads, kPageSlots, c.head_dim},
                       options);
  });
}

void TorchPages::Grow(int pages) {
  if (pages <= capacity()) return;
  OnDevice(device_, [&] {
    std::vector<int64_t> shape = store_.sizes().vec();
    shape[1] = std::max({int64_t{pages}, reserve_pages_, capacity() * 3 / 2});
    at::Tensor grown = at::zeros(shape, store_.options());
    if (capacity() > 0) grown.narrow(1, 0, capacity()).copy_(store_);
    store_ = grown;
  });
}

void TorchPages::CopyPrefix(PageId from, PageId to, int filled) {
  ESP_CHECK(filled >= 0 && filled <= kPageSlots);
  OnDevice(device_, [&] {
    store_.select(1, to)
        .narrow(2, 0, filled)
        .copy_(store_.select(1, from).narrow(2, 0, filled));
  });
}

}  // namespace espalier
