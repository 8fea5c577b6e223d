// The operations a transformer needs from the machine: products with packed
// weights and attention over pages of keys and values, as one family of
// kernels.
//
//   const KernelPath& path = PlainPath();
//   auto w = path.Pack(n, k, WeightKind::kBf16, read_rows);
//   std::vector<std::byte> operand(path.OperandBytes(*w, rows));
//   path.PackRows(*w, x, k, 0, rows, operand.data());
//   path.Product(*w, operand.data(), 0, rows, 0, n, y, n);
//
// The summation order of an output element depends only on its own row, not on
// the other rows, columns or pages computed with it. A row's bits do depend on
// the path.
//
// Thread-safe: paths have no state, and calls whose outputs do not overlap may
// run at the same time.
#ifndef ESPALIER_MODELS_KERNELS_KERNEL_PATH_H_
#define ESPALIER_MODELS_KERNELS_KERNEL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/kernels/kernels.h"
#include "models/pages/page_memory.h"
#include "models/pages/plain_pages.h"

namespace espalier {

class Weights {
 public:
  Weights(int n, int k, WeightKind kind) : n_(n), k_(k), kind_(kind) {}
  virtual ~Weights() = default;
  int n() const { return n_; }
  int k() const { return k_; }
  WeightKind kind() const { return kind_; }
  virtual int64_t bytes() const = 0;
  // Row i as used by products, out[k].
  virtual void Row(int i, float* out) const = 0;

 private:
  int n_, k_;
  WeightKind kind_;
};

// Query rows of one KV head that attend together. Row r is at positions[r] of
// the path whose page for positions 64*i .. is pages[r][i]. Keys at distances
// of `window` and more are ignored; 0: no window.
struct AttendRows {
  int layer = 0;
  int kv_head = 0;
  int rows = 0;
  int group = 1;  // query heads per KV head
  const int* positions = nullptr;
  const PageId* const* pages = nullptr;
  int window = 0;
  // Above 0: each score s becomes cap * tanh(s / cap). Of PlainPath only.
  float cap = 0;
  // From PackQuery, rows x group heads, followed by room for 15 more.
  const std::byte* queries = nullptr;
};

class KernelPath {
 public:
  virtual ~KernelPath() = default;
  virtual const char* name() const = 0;
  // Whether it has products of such weights and attention of such heads.
  virtual bool Takes(WeightKind kind, int head_dim) const = 0;

  // Products compute columns in multiples of this.
  virtual int column_block() const = 0;
  // Rows per call of Product that use the caches well.
  virtual int row_block() const = 0;
  // Speed of products, to size chunks of work.
  virtual double operations_per_us() const = 0;
  // The padded head dimension of queries and of Attend's output.
  virtual int PadHead(int head_dim) const = 0;

  virtual std::unique_ptr<Weights> Pack(int n, int k, WeightKind kind,
                                        ReadRows read) const = 0;

  // Bytes of activations packed for products with `w`.
  virtual size_t OperandBytes(const Weights& w, int rows) const = 0;
  // Whether PackBlock may be used: not if rows need a scale.
  virtual bool PacksBlocks(const Weights& w) const = 0;
  // Packs x[r * ldx + 0 .. k) as row `row` + r.
  virtual void PackRows(const Weights& w, const float* x, size_t ldx, int row,
                        int rows, std::byte* operand) const = 0;
  // Packs x[r * ldx + c] as element (row + r, column + c); columns a multiple
  // of 16 (or up to the end), `column` of 16.
  virtual void PackBlock(const Weights& w, const float* x, size_t ldx, int row,
                         int rows, int column, int columns,
                         std::byte* operand) const = 0;
  // y[r * ldy + c] = rows `row` + r of the operand times column `column` + c.
  // `row` is a multiple of row_block(), `column` and `columns` of
  // column_block() (or up to the end); y has room for rows padded to 16 and
  // columns to column_block().
  virtual void Product(const Weights& w, const std::byte* operand, int row,
                       int rows, int column, int columns, float* y,
                       size_t ldy) const = 0;

  virtual std::unique_ptr<PageMemory> NewPages(PageShape shape) const = 0;
  // To be called before slots [begin, end) of a page get their first values.
  virtual void OpenSlots(PageMemory& pages, PageId page, int begin,
                         int end) const = 0;
  // head_dim numbers each, already rotated.
  virtual void StoreKey(PageMemory& pages, PageId page, int layer, int kv_head,
                        int slot, const float* key) const = 0;
  virtual void StoreValue(PageMemory& pages, PageId page, int layer,
                          int kv_head, int slot, const float* value) const = 0;
  // Bytes of one head's packed query.
  virtual size_t QueryBytes(int head_dim) const = 0;
  virtual void PackQuery(const float* query, int head_dim, float scale,
                         std::byte* to) const = 0;
  // Writes out[(r * group + h) * PadHead(head_dim) ..]: softmax-weighted
  // values. Returns the number of pages read, a page shared by rows counted
  // once.
  virtual int Attend(PageMemory& pages, const AttendRows& rows,
                     float* out) const = 0;
};

// Plain C++ with AVX2 or AVX-512 if available; fp32 activations, keys and
// values. Takes everything.
const KernelPath& PlainPath();
// bf16 activations, keys and values, fp32 sums; int8 and int4 products in exact
// integers. Null on a machine without AVX-512 BF16 and VNNI, or without AMX.
const KernelPath* Avx512Path();
const KernelPath* AmxPath();

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_KERNEL_PATH_H_
