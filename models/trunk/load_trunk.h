// Loaders of trunks, by device.
//
// Device names are those that users give: "cpu" (the kernels of
// models/kernels), and LibTorch's "cuda", "cuda:1", and "torch-cpu" (LibTorch
// on the processor). A program that links models/torch_executor has its loader
// registered; any other gets an error that says so:
//
//   const TrunkLoaderRegistration kRegistration("cuda", &LoadTorchTrunk);
//   Trunk::Load(folder, {.device = "cuda:1"});
//
// Filled before main, constant afterwards: thread-safe.
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
  int index = 0;     // among devices of this kind
};

// InvalidArgument for anything else.
absl::StatusOr<DeviceName> ParseDevice(const std::string& text);

// `options.device` is of the kind that the loader is registered for.
using TrunkLoader = absl::StatusOr<std::unique_ptr<Trunk>> (*)(
    const std::string& path, const TrunkOptions& options);

class TrunkLoaderRegistration {
 public:
  TrunkLoaderRegistration(const std::string& kind, TrunkLoader loader);
};

// The packing of this checkpoint's matrices under `choice`.
Packing ChoosePacking(const TensorSource& source, WeightChoice choice);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_LOAD_TRUNK_H_
