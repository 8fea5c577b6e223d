#include "models/net/kernels.h"

#include <sys/syscall.h>
#include <unistd.h>

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

bool HaveAmx() {
  static const bool have = [] {
    unsigned a = 7, b = 0, c = 0, d = 0;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    const bool tiles = (d >> 24 & 1) != 0 && (d >> 22 & 1) != 0;
    if (!tiles || !__builtin_cpu_supports("avx512bf16") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512dq")) {
      return false;
    }
    // Tile data is 8 KB of state: Linux wants to be asked (5.16 and later).
    constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr int kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return have;
}

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
