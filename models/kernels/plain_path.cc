// The portable path: fp32 activations, keys and values.
#include <algorithm>
#include <cstring>
#include <vector>

#include "models/kernels/kernel_path.h"

namespace espalier {
namespace {

class PlainWeights : public Weights {
 public:
  PlainWeights(int n, int k, WeightKind kind, ReadRows read)
      : Weights(n, k, kind), matrix(n, k, kind, read) {}
  int64_t bytes() const override { return matrix.bytes(); }
  void Row(int i, float* out) const override { matrix.Row(i, out); }

  const PackedMatrix matrix;
};

PlainPages& Plain(PageMemory& pages) { return static_cast<PlainPages&>(pages); }

class FloatPath : public KernelPath {
 public:
  const char* name() const override { return "plain"; }
  bool Takes(WeightKind, int) const override { return true; }
  int column_block() const override { return kPanel; }
  // Enough rows to make good use of a panel while it is in the cache.
  int row_block() const override { return 48; }
  double operations_per_us() const override { return 6e4; }
  int PadHead(int head_dim) const override { return head_dim; }

  std::unique_ptr<Weights> Pack(int n, int k, WeightKind kind,
                                ReadRows read) const override {
    return std::make_unique<PlainWeights>(n, k, kind, read);
  }

  // Consecutive fp32 rows.
  size_t OperandBytes(const Weights& w, int rows) const override {
    return static_cast<size_t>(rows) * static_cast<size_t>(w.k()) * 4;
  }
  bool PacksBlocks(const Weights&) const override { return true; }
  void PackRows(const Weights& w, const float* x, size_t ldx, int row, int rows,
                std::byte* operand) const override {
    PackBlock(w, x, ldx, row, rows, 0, w.k(), operand);
  }
  void PackBlock(const Weights& w, const float* x, size_t ldx, int row,
                 int rows, int column, int columns,
                 std::byte* operand) const override {
    const size_t k = static_cast<size_t>(w.k());
    float* to = reinterpret_cast<float*>(operand) +
                static_cast<size_t>(row) * k + static_cast<size_t>(column);
    for (int r = 0; r < rows; ++r, to += k, x += ldx) {
      std::copy(x, x + columns, to);
    }
  }
  void Product(const Weights& w, const std::byte* operand, int row, int rows,
               int column, int columns, float* y, size_t ldy) const override {
    const size_t k = static_cast<size_t>(w.k());
    MatMul(
        reinterpret_cast<const float*>(operand) + static_cast<size_t>(row) * k,
        k, rows, static_cast<const PlainWeights&>(w).matrix, column, columns, y,
        ldy);
  }

  std::unique_ptr<PageMemory> NewPages(PageShape shape) const override {
    return std::make_unique<PlainPages>(shape);
  }
  void OpenSlots(PageMemory&, PageId, int, int) const override {}
  void StoreKey(PageMemory& memory, PageId page, int layer, int kv_head,
                int slot, const float* key) const override {
    PlainPages& pages = Plain(memory);
    float* to = pages.keys(page, layer, kv_head) + slot;
    for (int i = 0; i < pages.shape().head_dim; ++i)
      to[i * kPageSlots] = key[i];
  }
  void StoreValue(PageMemory& memory, PageId page, int layer, int kv_head,
                  int slot, const float* value) const override {
    PlainPages& pages = Plain(memory);
    const int dims = pages.shape().head_dim;
    std::copy(value, value + dims,
              pages.values(page, layer, kv_head) + slot * dims);
  }
  size_t QueryBytes(int head_dim) const override {
    return static_cast<size_t>(head_dim) * 4;
  }
  void PackQuery(const float* query, int head_dim, float scale,
                 std::byte* to) const override {
    float* out = reinterpret_cast<float*>(to);
    for (int i = 0; i < head_dim; ++i) out[i] = query[i] * scale;
  }

  int Attend(PageMemory& memory, const AttendRows& task,
             float* out) const override {
    PlainPages& pages = Plain(memory);
    const size_t group_dim = static_cast<size_t>(task.group) *
                             static_cast<size_t>(pages.shape().head_dim);
    const float* queries = reinterpret_cast<const float*>(task.queries);
    thread_local std::vector<const float*> keys, values;
    int read = 0;
    for (int r = 0; r < task.rows; ++r) {
      const int position = task.positions[r];
      const int first =
          task.window == 0 ? 0 : std::max(0, position + 1 - task.window);
      const size_t blocks = static_cast<size_t>(position / kPageSlots) + 1;
      keys.resize(blocks);
      values.resize(blocks);
      for (size_t b = static_cast<size_t>(first / kPageSlots); b < blocks;
           ++b) {
        keys[b] = pages.keys(task.pages[r][b], task.layer, task.kv_head);
        values[b] = pages.values(task.pages[r][b], task.layer, task.kv_head);
      }
      read += static_cast<int>(blocks) - first / kPageSlots;
      const size_t at = static_cast<size_t>(r) * group_dim;
      espalier::Attend(queries + at, task.group, keys.data(), values.data(),
                       first, position, pages.shape().head_dim, out + at,
                       task.cap);
    }
    return read;
  }
};

}  // namespace

const KernelPath& PlainPath() {
  static const FloatPath path;
  return path;
}

}  // namespace espalier
