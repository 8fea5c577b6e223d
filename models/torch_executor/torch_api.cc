#include "models/torch_executor/torch_api.h"

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/version.h>

namespace espalier {

absl::StatusOr<at::Device> FindDevice(const DeviceName& name) {
  if (name.kind != "cuda") return at::Device(at::kCPU);
  const std::string version =
      absl::StrCat("LibTorch ", TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
  if (!torch::cuda::is_available()) {
    return absl::FailedPreconditionError(
        absl::StrCat("device cuda: this ", version,
                     " is built without CUDA, or the driver finds no GPU; use "
                     "--device cpu"));
  }
  const int count = static_cast<int>(torch::cuda::device_count());
  if (name.index >= count) {
    return absl::FailedPreconditionError(
        absl::StrCat("device cuda:", name.index, ": ", version, " sees ", count,
                     count == 1 ? " GPU, cuda:0" : " GPUs, counted from 0",
                     "; use one of them, or --device cpu"));
  }
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(name.index));
}

void SetThreads(int threads) {
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace espalier
