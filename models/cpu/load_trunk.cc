#include "models/cpu/load_trunk.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "models/checkpoint/memory_fit.h"
#include "models/checkpoint/tensor_source.h"
#include "models/cpu/cpu_trunk.h"
#include "models/cpu/network.h"
#include "models/kernels/amx_path.h"
#include "src/base/check.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

// Beyond any machine; a device's index is a byte in LibTorch.
constexpr int kMostDevices = 64;

std::map<std::string, TrunkLoader>& Loaders() {
  static auto& loaders = *new std::map<std::string, TrunkLoader>;
  return loaders;
}

WeightKind KindOf(Packing packing) {
  switch (packing) {
    case Packing::kFp32:
      return WeightKind::kFp32;
    case Packing::kBf16:
      return WeightKind::kBf16;
    case Packing::kInt8:
      return WeightKind::kInt8;
    case Packing::kInt4:
      return WeightKind::kInt4;
  }
  return WeightKind::kFp32;
}

// The path for weights of this kind.
const KernelPath& Choose(const TrunkConfig& config, WeightKind kind,
                         const TrunkOptions& options) {
  const KernelPath* amx = AmxPath();
  const bool fits =
      kind != WeightKind::kFp32 && config.head_dim <= kMostTileDims;
  return amx != nullptr && fits && !options.plain_kernels ? *amx : PlainPath();
}

absl::StatusOr<std::unique_ptr<Trunk>> LoadCpuTrunk(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const auto source, TensorSource::Open(path));
  const Packing packing = ChoosePacking(*source, options.weights);
  // Portable kernels keep four bits as eight.
  const bool wider = packing == Packing::kInt4 && AmxPath() == nullptr;
  const MemoryPlan plan =
      PlanMemory(*source, wider ? Packing::kInt8 : packing, options.kv_bytes);
  ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
  const WeightKind kind = KindOf(packing);
  const KernelPath& kernels = Choose(source->config(), kind, options);
  return std::make_unique<CpuTrunk>(
      Network::Pack(*source, kernels, kind, options.executor), kernels);
}

const TrunkLoaderRegistration kCpu("cpu", &LoadCpuTrunk);

}  // namespace

absl::StatusOr<DeviceName> ParseDevice(const std::string& text) {
  if (text == "cpu" || text == "torch-cpu" || text == "cuda") {
    return DeviceName{.kind = text};
  }
  absl::string_view number = text;
  int index = 0;
  if (absl::ConsumePrefix(&number, "cuda:") &&
      absl::SimpleAtoi(number, &index) && absl::StrCat(index) == number &&
      index >= 0 && index < kMostDevices) {
    return DeviceName{.kind = "cuda", .index = index};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "device \"", text,
      "\": expected cpu, cuda (the first GPU), cuda:N (GPU N, counted from 0) "
      "or torch-cpu (what cuda computes, on the processor)"));
}

TrunkLoaderRegistration::TrunkLoaderRegistration(const std::string& kind,
                                                 TrunkLoader loader) {
  ESP_CHECK(Loaders().emplace(kind, loader).second);
}

Packing ChoosePacking(const TensorSource& source, WeightChoice choice) {
  switch (choice) {
    case WeightChoice::kFp32:
      return Packing::kFp32;
    case WeightChoice::kBf16:
      return Packing::kBf16;
    case WeightChoice::kInt8:
      return Packing::kInt8;
    case WeightChoice::kInt4:
      return Packing::kInt4;
    case WeightChoice::kAuto:
      break;
  }
  return source.storage(Part::kQuery, 0) == Storage::kFp32 ? Packing::kFp32
                                                           : Packing::kBf16;
}

absl::StatusOr<std::unique_ptr<Trunk>> Trunk::Load(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const DeviceName device, ParseDevice(options.device));
  const auto loader = Loaders().find(device.kind);
  if (loader == Loaders().end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("device ", options.device,
                     " needs LibTorch, which this program is built without; "
                     "use the device cpu"));
  }
  return loader->second(path, options);
}

}  // namespace espalier
