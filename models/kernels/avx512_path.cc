#include "models/kernels/avx512_path.h"

#include "models/kernels/tile_path.h"

namespace espalier {
namespace {

class Avx512Tiles : public TilePath {
 public:
  explicit Avx512Tiles(TileForm form)
      : TilePath(form),
        attend_(form == TileForm::kFma ? &Avx512FmaAttend : &Avx512DotAttend) {}
  const char* name() const override { return "avx512"; }
  // Their operands stay in the L2 cache while panels pass: 128 and more rows of
  // 2,048 inputs in fp32 were up to a sixth slower.
  int row_block() const override { return 64; }
  double operations_per_us() const override { return 2e5; }
  void Product(const Weights& w, const std::byte* operand, int row, int rows,
               int column, int columns, float* y, size_t ldy) const override {
    Avx512Product(w, operand, row, rows, column, columns, y, ldy);
  }
  int Attend(PageMemory& pages, const AttendRows& rows,
             float* out) const override {
    return attend_(pages, rows, out);
  }

 private:
  decltype(&Avx512DotAttend) attend_;
};

}  // namespace

bool HaveAvx512Dots() {
  static const bool have = __builtin_cpu_supports("avx512bf16") &&
                           __builtin_cpu_supports("avx512vnni") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512dq");
  return have;
}

const KernelPath& Avx512PathOf(TileForm form) {
  static const Avx512Tiles dots(TileForm::kDots), fma(TileForm::kFma);
  return form == TileForm::kFma ? fma : dots;
}

const KernelPath* Avx512Path() {
  if (!HaveAvx512Dots()) return nullptr;
  return &Avx512PathOf(__builtin_cpu_is("intel") ? TileForm::kFma
                                                 : TileForm::kDots);
}

}  // namespace espalier
