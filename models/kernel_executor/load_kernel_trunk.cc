// The device "cpu": packs checkpoints for this machine's kernels.
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "models/checkpoint/memory_fit.h"
#include "models/checkpoint/tensor_source.h"
#include "models/kernel_executor/kernel_trunk.h"
#include "models/kernel_executor/network.h"
#include "models/kernels/choose_kernels.h"
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

absl::StatusOr<std::unique_ptr<Trunk>> LoadKernelTrunk(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const auto source,
                       TensorSource::Open(path, options.part));
  const Packing packing = ChoosePacking(*source, options.weights);
  const WeightKind kind = KindOf(packing);
  ESP_ASSIGN_OR_RETURN(
      const KernelPath* kernels,
      ChooseKernels(options.kernels, kind, source->config().head_dim));
  // The other paths have no cap on attention scores.
  if (source->config().attention_cap != 0) kernels = &PlainPath();
  // Portable kernels store 4-bit weights as 8-bit.
  const bool wider = packing == Packing::kInt4 && kernels == &PlainPath();
  const MemoryPlan plan =
      PlanMemory(*source, wider ? Packing::kInt8 : packing, options.kv_bytes);
  ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
  return std::make_unique<KernelTrunk>(
      Network::Pack(*source, *kernels, kind, options.executor), *kernels);
}

const TrunkLoaderRegistration kCpu("cpu", &LoadKernelTrunk);

}  // namespace
}  // namespace espalier
