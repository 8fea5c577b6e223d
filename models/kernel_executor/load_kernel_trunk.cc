// The device "cpu": packs checkpoints for this machine's kernels.
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "models/checkpoint/memory_fit.h"
#include "models/checkpoint/tensor_source.h"
#include "models/kernel_executor/kernel_trunk.h"
#include "models/kernel_executor/network.h"
#include "models/kernels/amx_path.h"
#include "models/trunk/load_trunk.h"

namespace espalier {
namespace {

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
  const bool fits = kind != WeightKind::kFp32 &&
                    config.head_dim <= kMostTileDims &&
                    config.attention_cap == 0;
  return amx != nullptr && fits && !options.plain_kernels ? *amx : PlainPath();
}

absl::StatusOr<std::unique_ptr<Trunk>> LoadKernelTrunk(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const auto source,
                       TensorSource::Open(path, options.part));
  const Packing packing = ChoosePacking(*source, options.weights);
  // Portable kernels store 4-bit weights as 8-bit.
  const bool wider = packing == Packing::kInt4 && AmxPath() == nullptr;
  const MemoryPlan plan =
      PlanMemory(*source, wider ? Packing::kInt8 : packing, options.kv_bytes);
  ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
  const WeightKind kind = KindOf(packing);
  const KernelPath& kernels = Choose(source->config(), kind, options);
  return std::make_unique<KernelTrunk>(
      Network::Pack(*source, kernels, kind, options.executor), kernels);
}

const TrunkLoaderRegistration kCpu("cpu", &LoadKernelTrunk);

}  // namespace
}  // namespace espalier
