// What loading a trunk is made of, on every device.
//
// A device is named as users name it: "cpu" (the kernels of models/kernels),
// and what LibTorch computes on: "cuda", "cuda:1", and "torch-cpu", the same
// code on the processor. A program that links models/torch_executor finds its
// loader here; one that does not is told so:
//
//   const TrunkLoaderRegistration kRegistration("cuda", &LoadTorchTrunk);
//   Trunk::Load(folder, {.device = "cuda:1"});
//
// Filled before main and constant after: thread-safe.
#ifndef ESPALIER_MODELS_TRUNK_LOAD_TRUNK_H_
#define ESPALIER_MODELS_TRUNK_LOAD_TRUNK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/memory_fit.h"
#include "models/checkpoint/tensor_source.h"
#include "models/trunk/trunk.h"

namespace espalier {

struct DeviceName {
  std::string kind;  // "cpu", "cuda" or "torch-cpu"
  int index = 0;     // of several of a kind
};

// InvalidArgument for anything else.
absl::StatusOr<DeviceName> ParseDevice(const std::string& text);

// `options.device` is of a kind that the loader is registered for.
using TrunkLoader = absl::StatusOr<std::unique_ptr<Trunk>> (*)(
    const std::string& path, const TrunkOptions& options);

class TrunkLoaderRegistration {
 public:
  TrunkLoaderRegistration(const std::string& kind, TrunkLoader loader);
};

// How `choice` keeps the matrices of this checkpoint.
Packing ChoosePacking(const TensorSource& source, WeightChoice choice);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_LOAD_TRUNK_H_
