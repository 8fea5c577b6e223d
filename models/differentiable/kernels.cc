#include "models/differentiable/kernels.h"

#include "models/kernels/amx_path.h"

namespace espalier::net {

namespace base {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
namespace amx {
extern const Kernels kKernels;
}

bool HaveAmx() { return espalier::HaveAmx(); }

const Kernels& GetKernels(Precision precision) {
  if (precision == Precision::kBf16 && HaveAmx()) return amx::kKernels;
  if (__builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd")) {
    return avx512::kKernels;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return avx2::kKernels;
  }
  return base::kKernels;
}

}  // namespace espalier::net
