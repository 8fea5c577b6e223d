#include "models/kernels/amx_path.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace espalier {
namespace {

class TilePath : public KernelPath {
 public:
  const char* name() const override { return "amx"; }
  int column_block() const override { return kTilePanel; }
  // Operands of this many rows stay in the L2 cache while panels pass.
  int row_block() const override { return 256; }
  double operations_per_us() const override { return 8e5; }
  int PadHead(int head_dim) const override { return (head_dim + 31) / 32 * 32; }

  std::unique_ptr<Weights> Pack(int n, int k, WeightKind kind,
                                ReadRows read) const override {
    return PackTiles(n, k, kind, read);
  }
  size_t OperandBytes(const Weights& w, int rows) const override {
    return TileOperandBytes(w, rows);
  }
  bool PacksBlocks(const Weights& w) const override {
    return w.kind() == WeightKind::kBf16;
  }
  void PackRows(const Weights& w, const float* x, size_t ldx, int row, int rows,
                std::byte* operand) const override {
    PackTileRows(w, x, ldx, row, rows, operand);
  }
  void PackBlock(const Weights& w, const float* x, size_t ldx, int row,
                 int rows, int column, int columns,
                 std::byte* operand) const override {
    PackTileBlock(w, x, ldx, row, rows, column, columns, operand);
  }
  void Product(const Weights& w, const std::byte* operand, int row, int rows,
               int column, int columns, float* y, size_t ldy) const override {
    TileProduct(w, operand, row, rows, column, columns, y, ldy);
  }

  std::unique_ptr<PageMemory> NewPages(PageShape shape) const override {
    return NewTilePages(shape);
  }
  void OpenSlots(PageMemory& pages, PageId page, int begin,
                 int end) const override {
    OpenTileSlots(pages, page, begin, end);
  }
  void StoreKey(PageMemory& pages, PageId page, int layer, int kv_head,
                int slot, const float* key) const override {
    StoreTileKey(pages, page, layer, kv_head, slot, key);
  }
  void StoreValue(PageMemory& pages, PageId page, int layer, int kv_head,
                  int slot, const float* value) const override {
    StoreTileValue(pages, page, layer, kv_head, slot, value);
  }
  size_t QueryBytes(int head_dim) const override {
    return static_cast<size_t>(PadHead(head_dim)) * 2;
  }
  void PackQuery(const float* query, int head_dim, float scale,
                 std::byte* to) const override {
    PackTileQuery(query, head_dim, scale, to);
  }
  int Attend(PageMemory& pages, const AttendRows& rows,
             float* out) const override {
    return AttendTiles(pages, rows, out);
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
  static const TilePath path;
  return HaveAmx() ? &path : nullptr;
}

}  // namespace espalier
