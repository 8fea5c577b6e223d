// Which kernel path of this machine runs a model.
//
//   ESP_ASSIGN_OR_RETURN(const KernelPath* path,
//                        ChooseKernels("", WeightKind::kBf16, 64));
//
// The environment variable ESPALIER_KERNELS forces a path for comparisons and
// tests: "amx", "avx512" or "plain", or an instruction set of the portable path
// ("avx2", "sse4"), to which everything that Highway compiles is then limited.
// Read once, when the first path is chosen.
//
// Thread-safe.
#ifndef ESPALIER_MODELS_KERNELS_CHOOSE_KERNELS_H_
#define ESPALIER_MODELS_KERNELS_CHOOSE_KERNELS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/kernels/kernel_path.h"

namespace espalier {

// Those of this machine, the fastest first; the last is the portable one.
std::vector<const KernelPath*> KernelPaths();

// The path called `name`, or by an empty one the path that ESPALIER_KERNELS
// says, or else the fastest of this machine; but the portable one for weights
// and heads that this path does not take. FailedPrecondition if this machine
// has no path or instruction set of that name.
absl::StatusOr<const KernelPath*> ChooseKernels(std::string_view name,
                                                WeightKind kind, int head_dim);

// What a value of ESPALIER_KERNELS asks for.
struct ForcedKernels {
  const KernelPath* path = nullptr;  // null: the fastest
  std::string_view vectors;          // an instruction set of `path`, or empty
};
absl::StatusOr<ForcedKernels> ReadForcedKernels(std::string_view value);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_CHOOSE_KERNELS_H_
