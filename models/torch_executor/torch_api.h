// What LibTorch's releases and builds differ in: devices, errors, modes. The
// rest of models/torch_executor uses what is alike from 1.13 on, so a release
// that changes something is met in this file and in torch_api.cc alone.
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

// FailedPrecondition, with what to do, where this LibTorch or this machine has
// no such device.
absl::StatusOr<at::Device> FindDevice(const DeviceName& name);

// Threads of operations on the processor.
void SetThreads(int threads);

// Calls `f` without recording gradients. Errors of LibTorch, such as memory
// that has run out, leave it as std::runtime_error with the device's name.
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
