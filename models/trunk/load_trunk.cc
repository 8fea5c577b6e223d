#include "models/trunk/load_trunk.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {
namespace {

// Above any machine; LibTorch stores a device's index in a byte.
constexpr int kMostDevices = 64;

std::map<std::string, TrunkLoader>& Loaders() {
  static auto& loaders = *new std::map<std::string, TrunkLoader>;
  return loaders;
}

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
      "or torch-cpu (the CUDA code path, run on the CPU)"));
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
  return source.storage(TensorRole::kQuery, 0) == Storage::kFp32
             ? Packing::kFp32
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
