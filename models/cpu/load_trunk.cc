#include <memory>
#include <string>

#include "models/checkpoint/memory_fit.h"
#include "models/checkpoint/tensor_source.h"
#include "models/cpu/cpu_trunk.h"
#include "models/cpu/network.h"
#include "models/kernels/amx_path.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

WeightKind Kind(const TensorSource& source, WeightChoice choice) {
  switch (choice) {
    case WeightChoice::kFp32:
      return WeightKind::kFp32;
    case WeightChoice::kBf16:
      return WeightKind::kBf16;
    case WeightChoice::kInt8:
      return WeightKind::kInt8;
    case WeightChoice::kInt4:
      return WeightKind::kInt4;
    case WeightChoice::kAuto:
      break;
  }
  return source.storage(Part::kQuery, 0) == Storage::kFp32 ? WeightKind::kFp32
                                                           : WeightKind::kBf16;
}

Packing PackingOf(WeightKind kind) {
  switch (kind) {
    case WeightKind::kFp32:
      return Packing::kFp32;
    case WeightKind::kBf16:
      return Packing::kBf16;
    case WeightKind::kInt8:
      return Packing::kInt8;
    case WeightKind::kInt4:
      return AmxPath() != nullptr ? Packing::kInt4 : Packing::kInt8;
  }
  return Packing::kFp32;
}

// The path for weights of this kind.
const KernelPath& Choose(const TrunkConfig& config, WeightKind kind,
                         const TrunkOptions& options) {
  const KernelPath* amx = AmxPath();
  const bool fits =
      kind != WeightKind::kFp32 && config.head_dim <= kMostTileDims;
  return amx != nullptr && fits && !options.plain_kernels ? *amx : PlainPath();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trunk>> Trunk::Load(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const auto source, TensorSource::Open(path));
  const WeightKind kind = Kind(*source, options.weights);
  const MemoryPlan plan =
      PlanMemory(*source, PackingOf(kind), options.kv_bytes);
  ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
  const KernelPath& kernels = Choose(source->config(), kind, options);
  return std::make_unique<CpuTrunk>(
      Network::Pack(*source, kernels, kind, options.executor), kernels);
}

}  // namespace espalier
