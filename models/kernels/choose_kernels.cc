#include "models/kernels/choose_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/kernels/kernels.h"

namespace espalier {
namespace {

constexpr const char* kVariable = "ESPALIER_KERNELS";

const KernelPath* Named(std::string_view name) {
  for (const KernelPath* path : KernelPaths()) {
    if (path->name() == name) return path;
  }
  return nullptr;
}

std::string PathNames() {
  return absl::StrJoin(KernelPaths(), ", ",
                       [](std::string* out, const KernelPath* path) {
                         out->append(path->name());
                       });
}

// What the environment asks for, with its instruction set limited.
const absl::StatusOr<ForcedKernels>& FromEnvironment() {
  static const absl::StatusOr<ForcedKernels> forced =
      []() -> absl::StatusOr<ForcedKernels> {
    const char* const value = std::getenv(kVariable);
    ESP_ASSIGN_OR_RETURN(const ForcedKernels out,
                         ReadForcedKernels(value == nullptr ? "" : value));
    if (!out.vectors.empty()) LimitVectorTarget(out.vectors);
    return out;
  }();
  return forced;
}

}  // namespace

std::vector<const KernelPath*> KernelPaths() {
  std::vector<const KernelPath*> out;
  for (const KernelPath* path : {AmxPath(), Avx512Path(), &PlainPath()}) {
    if (path != nullptr) out.push_back(path);
  }
  return out;
}

absl::StatusOr<ForcedKernels> ReadForcedKernels(std::string_view value) {
  if (value.empty()) return ForcedKernels{};
  if (const KernelPath* path = Named(value)) return ForcedKernels{.path = path};
  for (const std::string& target : VectorTargets()) {
    if (target == value) {
      return ForcedKernels{.path = &PlainPath(), .vectors = target};
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      kVariable, "=", AbslView(value), ": this machine has the kernel paths ",
      PathNames(), ", and of plain the instruction sets ",
      absl::StrJoin(VectorTargets(), ", "),
      ". Name one of them, or leave the variable out"));
}

absl::StatusOr<const KernelPath*> ChooseKernels(std::string_view name,
                                                WeightKind kind, int head_dim) {
  ESP_ASSIGN_OR_RETURN(const ForcedKernels forced, FromEnvironment());
  const KernelPath* path =
      forced.path != nullptr ? forced.path : KernelPaths().front();
  if (!name.empty()) path = Named(name);
  if (path == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernels \"", AbslView(name),
                     "\": this machine has the kernel paths ", PathNames()));
  }
  return path->Takes(kind, head_dim) ? path : &PlainPath();
}

}  // namespace espalier
