// Registers the trunk loaders for LibTorch's devices.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "models/checkpoint/memory_fit.h"
#include "models/torch_executor/torch_api.h"
#include "models/torch_executor/torch_network.h"
#include "models/torch_executor/torch_trunk.h"
#include "models/trunk/load_trunk.h"

namespace espalier {
namespace {

double Gigabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

absl::Status TooLarge(const std::string& path, const std::string& device,
                      const MemoryPlan& plan) {
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: does not fit into the free memory of device %s: %.2f GB weights + "
      "%.2f GB keys and values + %.2f GB working memory; lower the limit of "
      "keys and values, or use bf16 weights or the device cpu",
      path, device, Gigabytes(plan.weights), Gigabytes(plan.keys_and_values),
      Gigabytes(plan.working)));
}

// Loads onto a device whose free memory is probed by allocating it: released
// memory stays with LibTorch, which later gives it to the pages.
absl::StatusOr<std::unique_ptr<Trunk>> LoadOntoGpu(const TensorSource& source,
                                                   const std::string& path,
                                                   at::Device device,
                                                   at::ScalarType dtype,
                                                   const MemoryPlan& plan) {
  try {
    const c10::InferenceMode inference;
    auto trunk = std::make_unique<TorchTrunk>(
        TorchNetwork::Load(source, device, dtype), plan.keys_and_values);
    std::vector<at::Tensor> taken;  // both at the same time
    for (const int64_t bytes : {plan.keys_and_values, plan.working}) {
      taken.push_back(at::empty(
          {bytes}, at::TensorOptions().dtype(at::kByte).device(device)));
    }
    return trunk;
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    if (what.find("out of memory") != what.npos) {
      return TooLarge(path, device.str(), plan);
    }
    return absl::InternalError(
        absl::StrCat(path, ": device ", device.str(), ": ", what));
  }
}

absl::StatusOr<std::unique_ptr<Trunk>> LoadTorchTrunk(
    const std::string& path, const TrunkOptions& options) {
  if (options.weights == WeightChoice::kInt8 ||
      options.weights == WeightChoice::kInt4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights ", options.weights == WeightChoice::kInt8 ? "int8" : "int4",
        " on device ", options.device,
        ": expected auto, bf16 or fp32; quantized weights need the device "
        "cpu"));
  }
  ESP_ASSIGN_OR_RETURN(const DeviceName name, ParseDevice(options.device));
  ESP_ASSIGN_OR_RETURN(const at::Device device, FindDevice(name));
  ESP_ASSIGN_OR_RETURN(const auto source,
                       TensorSource::Open(path, options.part));
  if (source->config().experts > 0) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": device ", options.device,
                     ": found a network with experts, supported: networks "
                     "without; use the device cpu"));
  }
  const Packing packing = ChoosePacking(*source, options.weights);
  const at::ScalarType dtype =
      packing == Packing::kFp32 ? at::kFloat : at::kBFloat16;
  const MemoryPlan plan = PlanMemory(*source, packing, options.kv_bytes);
  if (!device.is_cpu()) {
    return LoadOntoGpu(*source, path, device, dtype, plan);
  }
  ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
  const c10::InferenceMode inference;
  return std::make_unique<TorchTrunk>(
      TorchNetwork::Load(*source, device, dtype), /*reserve_bytes=*/0);
}

const TrunkLoaderRegistration kCuda("cuda", &LoadTorchTrunk);
const TrunkLoaderRegistration kTorchCpu("torch-cpu", &LoadTorchTrunk);

}  // namespace
}  // namespace espalier
