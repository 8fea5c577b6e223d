#include "models/kernels/amx_path.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "models/kernels/tile_path.h"

namespace espalier {
namespace {

class AmxTiles : public TilePath {
 public:
  AmxTiles() : TilePath(TileForm::kAmx) {}
  const char* name() const override { return "amx"; }
  // Operands of this many rows stay in the L2 cache while panels pass.
  int row_block() const override { return 256; }
  double operations_per_us() const override { return 8e5; }
  void Product(const Weights& w, const std::byte* operand, int row, int rows,
               int column, int columns, float* y, size_t ldy) const override {
    AmxProduct(w, operand, row, rows, column, columns, y, ldy);
  }
  int Attend(PageMemory& pages, const AttendRows& rows,
             float* out) const override {
    return AmxAttend(pages, rows, out);
  }
};

}  // namespace

bool HaveAmx() {
  static const bool have = [] {
    unsigned a = 7, b = 0, c = 0, d = 0;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    // AMX tiles, with bf16 and int8 products.
    const bool tiles =
        (d >> 24 & 1) != 0 && (d >> 22 & 1) != 0 && (d >> 25 & 1) != 0;
    if (!tiles || !__builtin_cpu_supports("avx512bf16") ||
        !__builtin_cpu_supports("avx512vnni") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512dq")) {
      return false;
    }
    // Tile data is 8 KB of state: Linux requires permission (5.16 and later).
    constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr int kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return have;
}

const KernelPath* AmxPath() {
  static const AmxTiles path;
  return HaveAmx() ? &path : nullptr;
}

}  // namespace espalier
