// Differences between LibTorch's releases and builds: devices, errors, modes.
// The rest of models/torch_executor uses only what is unchanged since 1.13, so
// a release that changes something affects only this file and torch_api.cc.
//
//   OnDevice("cuda:1", [&] { y = at::linear(x, w); });
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_API_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_API_H_

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "models/trunk/load_trunk.h"

namespace espalier {

// FailedPrecondition, with what to do, if this LibTorch or this machine lacks
// the device.
absl::StatusOr<at::Device> FindDevice(const DeviceName& name);

// Sets the number of threads of CPU operations.
void SetThreads(int threads);

// Calls `f` without recording gradients. LibTorch's errors, such as running out
// of memory, become std::runtime_error with the device's name.
template <class F>
void OnDevice(const std::string& device, F f) {
  const c10::InferenceMode inference;
  try {
    f();
  } catch (const c10::Error& error) {
    throw std::runtime_error(
        absl::StrCat("device ", device, ": ", error.what_without_backtrace()));
  }
}

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_API_H_
