// Uploads many short lists of integers to a device in one copy.
//
//   IndexUpload upload;
//   const auto rows = upload.Add(row_numbers);
//   upload.Send(device);
//   x.index_select(0, upload.at(rows));
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_INDEX_UPLOAD_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_INDEX_UPLOAD_H_

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace espalier {

class IndexUpload {
 public:
  struct Range {
    int64_t begin = 0, size = 0;
  };

  Range Add(const std::vector<int64_t>& list) {
    const Range range{static_cast<int64_t>(host_.size()),
                      static_cast<int64_t>(list.size())};
    host_.insert(host_.end(), list.begin(), list.end());
    return range;
  }
  // clone: on the CPU, `to` would return a view of host_.
  void Send(at::Device device) {
    sent_ = at::from_blob(host_.data(), {static_cast<int64_t>(host_.size())},
                          at::kLong)
                .clone()
                .to(device);
  }
  // [range.size], int64
  at::Tensor at(Range range) const {
    return sent_.narrow(0, range.begin, range.size);
  }

 private:
  std::vector<int64_t> host_;
  at::Tensor sent_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_INDEX_UPLOAD_H_
