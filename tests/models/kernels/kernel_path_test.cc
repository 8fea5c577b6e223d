// Every kernel path against plain sums in double precision; the bits of a row
// must not depend on the other rows of the batch.
#include "models/kernels/kernel_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/bfloat16.h"
#include "base/random.h"
#include "models/kernels/avx512_path.h"

namespace espalier {
namespace {

std::vector<float> DrawRow(size_t n, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(rng.Normal());
  return values;
}

// The path of a test's name, null if this machine lacks it. Both forms of the
// AVX-512 path run on any machine that has it.
const KernelPath* PathCalled(const std::string& name) {
  if (name == "plain") return &PlainPath();
  if (name == "amx") return AmxPath();
  if (Avx512Path() == nullptr) return nullptr;
  return &Avx512PathOf(name == "avx512_fma" ? TileForm::kFma : TileForm::kDots);
}

class KernelPathTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    path_ = PathCalled(GetParam());
    if (path_ == nullptr) GTEST_SKIP() << "this machine lacks the path";
  }
  bool rounds() const { return GetParam() != "plain"; }
  float Round(float x) const {
    return rounds() ? Bf16ToFloat(FloatToBf16(x)) : x;
  }
  std::unique_ptr<Weights> Pack(const std::vector<float>& w, int n, int k,
                                WeightKind kind) const {
    return path_->Pack(n, k, kind, [&](int begin, int count, float* out) {
      ASSERT_LE(begin + count, n);
      std::copy_n(w.data() + begin * k, count * k, out);
    });
  }
  std::vector<WeightKind> Kinds() const {
    if (rounds()) {
      return {WeightKind::kBf16, WeightKind::kInt8, WeightKind::kInt4};
    }
    return {WeightKind::kFp32, WeightKind::kBf16, WeightKind::kInt8,
            WeightKind::kInt4};
  }
  // All rows and columns of a product, computed `columns` at a time.
  std::vector<float> Product(const Weights& w, const std::vector<float>& x,
                             int rows, int columns) const {
    std::vector<std::byte> operand(path_->OperandBytes(w, rows));
    path_->PackRows(w, x.data(), static_cast<size_t>(w.k()), 0, rows,
                    operand.data());
    return Products(w, operand, rows, columns);
  }
  std::vector<float> Products(const Weights& w,
                              const std::vector<std::byte>& operand, int rows,
                              int columns) const {
    std::vector<float> out(static_cast<size_t>(rows * w.n()));
    std::vector<float> y(static_cast<size_t>(rows + 31) * 1024);
    for (int row = 0; row < rows; row += path_->row_block()) {
      const int count = std::min(path_->row_block(), rows - row);
      for (int c = 0; c < w.n(); c += columns) {
        const int wide = std::min(columns, w.n() - c);
        path_->Product(w, operand.data(), row, count, c, wide, y.data(), 1024);
        for (int r = 0; r < count; ++r) {
          std::copy_n(y.data() + r * 1024, wide,
                      out.data() + (row + r) * w.n() + c);
        }
      }
    }
    return out;
  }

  const KernelPath* path_ = nullptr;
};

TEST_P(KernelPathTest, ProductsEqualPlainSums) {
  for (const WeightKind kind : Kinds()) {
    for (const auto& [n, k] :
         {std::pair{64, 32}, {130, 47}, {1, 5}, {200, 100}, {320, 768}}) {
      for (const int rows : {1, 3, 16, 17, 33}) {
        const auto w = Pack(DrawRow(static_cast<size_t>(n * k), 1), n, k, kind);
        const auto x = DrawRow(static_cast<size_t>(rows * k), 2);
        const auto y = Product(*w, x, rows, 128);
        std::vector<float> weights(static_cast<size_t>(k));
        for (int c = 0; c < n; ++c) {
          w->Row(c, weights.data());
          for (int r = 0; r < rows; ++r) {
            const bool whole =
                kind == WeightKind::kInt8 || kind == WeightKind::kInt4;
            double sum = 0, most = 0;
            for (int i = 0; i < k; ++i) {
              const double a = x[static_cast<size_t>(r * k + i)];
              most = std::max(most, std::fabs(a));
              sum += (whole ? a : Round(x[r * k + i])) *
                     weights[static_cast<size_t>(i)];
            }
            // int8 rounds activations to 1/127 of the row's maximum.
            const double off =
                rounds() && whole ? 5 * most / 127 * 0.3 * std::sqrt(k) : 1e-3;
            ASSERT_NEAR(y[static_cast<size_t>(r * n + c)], sum, off)
                << n << " x " << k << " row " << r << " column " << c;
          }
        }
      }
    }
  }
}

// The same integers by hand, scaled once: equal up to the rounding of the
// scales.
TEST_P(KernelPathTest, Int8ProductsAreExactInIntegers) {
  if (!rounds()) GTEST_SKIP() << "this path keeps activations in fp32";
  constexpr int n = 40, k = 200, rows = 19;
  const auto weights = DrawRow(n * k, 3), x = DrawRow(rows * k, 4);
  const auto w = Pack(weights, n, k, WeightKind::kInt8);
  const auto y = Product(*w, x, rows, 64);
  const auto scale = [](const float* v) {
    float most = 0;
    for (int i = 0; i < k; ++i) most = std::max(most, std::fabs(v[i]));
    return most / 127;
  };
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < n; ++c) {
      const float sx = scale(&x[r * k]), sw = scale(&weights[c * k]);
      long sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += std::lrintf(x[r * k + i] * (1 / sx)) *
               std::lrintf(weights[c * k + i] * (1 / sw));
      }
      ASSERT_NEAR(y[static_cast<size_t>(r * n + c)],
                  static_cast<double>(sum) * sx * sw,
                  1e-6 * std::fabs(static_cast<double>(sum) * sx * sw));
    }
  }
}

// The largest numbers of both signs: nothing saturates, and offsets of unsigned
// bytes cancel.
TEST_P(KernelPathTest, ExtremeIntegersDoNotSaturate) {
  constexpr int n = 34, k = 4096, rows = 3;
  const auto sign = [](int i, int at) {
    return i == 0 ? 1 : i % 3 == 1 ? -1 : (at * 7 + i) % 5 < 2 ? -1 : 1;
  };
  std::vector<float> weights(n * k), x(rows * k);
  for (int i = 0; i < n * k; ++i) weights[i] = sign(i / k, i % k);
  for (int i = 0; i < rows * k; ++i) x[i] = sign(i / k, i % k);
  for (const WeightKind kind : {WeightKind::kInt8, WeightKind::kInt4}) {
    const auto w = Pack(weights, n, k, kind);
    const auto y = Product(*w, x, rows, 64);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < n; ++c) {
        int sum = 0;
        for (int at = 0; at < k; ++at) sum += sign(r, at) * sign(c, at);
        ASSERT_NEAR(y[static_cast<size_t>(r * n + c)], sum, 1e-2)
            << "row " << r << " column " << c;
      }
    }
  }
}

// The same with the weights' own rounding, with few rows and with many: they
// take different code paths.
TEST_P(KernelPathTest, Int4ProductsAreExactInIntegers) {
  if (!rounds()) GTEST_SKIP() << "this path keeps activations in fp32";
  for (const auto& [n, k] : {std::pair{40, 200}, {33, 64}, {96, 2048}}) {
    const auto weights = DrawRow(static_cast<size_t>(n * k), 3);
    const auto w = Pack(weights, n, k, WeightKind::kInt4);
    std::vector<std::vector<float>> rows_of_w(static_cast<size_t>(n));
    for (int c = 0; c < n; ++c) {
      auto& row = rows_of_w[static_cast<size_t>(c)];
      row.resize(static_cast<size_t>(k));
      w->Row(c, row.data());
    }
    for (const int rows : {1, 2, 3, 4, 5, 19, 40}) {
      const auto x = DrawRow(static_cast<size_t>(rows * k), 4);
      const auto y = Product(*w, x, rows, 64);
      for (int r = 0; r < rows; ++r) {
        float most = 0;
        for (int i = 0; i < k; ++i)
          most = std::max(most, std::fabs(x[r * k + i]));
        const float sx = most / 127;
        for (int c = 0; c < n; ++c) {
          double sum = 0;
          for (int i = 0; i < k; ++i) {
            sum +=
                static_cast<double>(std::lrintf(x[r * k + i] * (127 / most))) *
                rows_of_w[static_cast<size_t>(c)][static_cast<size_t>(i)];
          }
          ASSERT_NEAR(y[static_cast<size_t>(r * n + c)], sum * sx, 1e-3)
              << n << " x " << k << ", " << rows << " rows, " << r << ", " << c;
        }
      }
    }
  }
}

TEST_P(KernelPathTest, ARowsProductsDependOnTheRowAlone) {
  constexpr int n = 160, k = 70, rows = 300;
  const auto x = DrawRow(rows * k, 5);
  for (const WeightKind kind : Kinds()) {
    const auto w = Pack(DrawRow(n * k, 6), n, k, kind);
    const auto all = Product(*w, x, rows, 160);
    for (const int r : {0, 1, 15, 16, 47, 48, 63, 255, 256, 299}) {
      const std::vector<float> one(x.begin() + r * k, x.begin() + (r + 1) * k);
      const auto alone = Product(*w, one, 1, 64);
      for (int c = 0; c < n; ++c) {
        ASSERT_EQ(alone[static_cast<size_t>(c)],
                  all[static_cast<size_t>(r * n + c)]);
      }
    }
  }
}

TEST_P(KernelPathTest, OperandsPutByBlocksEqualThosePutByRows) {
  constexpr int n = 64, k = 88, rows = 21;
  const auto x = DrawRow(rows * k, 7);
  for (const WeightKind kind : Kinds()) {
    const auto w = Pack(DrawRow(n * k, 8), n, k, kind);
    if (!path_->PacksBlocks(*w)) continue;
    std::vector<std::byte> operand(path_->OperandBytes(*w, rows));
    for (int row = 0; row < rows; row += 6) {
      for (const auto& [column, columns] :
           {std::pair{48, 40}, {0, 16}, {16, 32}}) {
        path_->PackBlock(*w, x.data() + row * k + column, k, row,
                         std::min(6, rows - row), column, columns,
                         operand.data());
      }
    }
    EXPECT_EQ(Products(*w, operand, rows, 64), Product(*w, x, rows, 64));
  }
}

// Paths of random keys and values, and attention over them.
class Paths {
 public:
  Paths(const KernelPath& path, PageShape shape, int count)
      : path_(path),
        shape_(shape),
        memory_(path.NewPages(shape)),
        tables_(static_cast<size_t>(count)) {}

  // Appends a token to path i; `seed` determines its numbers.
  void Append(size_t i, uint64_t seed) {
    std::vector<PageId>& table = tables_[i];
    const int slot = lengths(i) % kPageSlots;
    if (slot == 0) table.push_back(NewPage());
    const size_t h = static_cast<size_t>(shape_.head_dim);
    path_.OpenSlots(*memory_, table.back(), slot, slot + 1);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      for (int head = 0; head < shape_.kv_heads; ++head) {
        const auto kv = DrawRow(2 * h, MixHash(seed, layer * 100 + head));
        path_.StoreKey(*memory_, table.back(), layer, head, slot, kv.data());
        path_.StoreValue(*memory_, table.back(), layer, head, slot,
                         kv.data() + h);
      }
    }
    seeds_[i].push_back(seed);
  }
  // Path `to` starts as path `from`: whole pages shared, the last one copied.
  void Fork(size_t from, size_t to) {
    tables_[to] = tables_[from];
    seeds_[to] = seeds_[from];
    const int filled = lengths(from) % kPageSlots;
    if (filled == 0) return;
    tables_[to].back() = NewPage();
    memory_->CopyPrefix(tables_[from].back(), tables_[to].back(), filled);
  }
  int lengths(size_t i) { return static_cast<int>(seeds_[i].size()); }

  // Attention of rows of (path, position): [rows, group * PadHead].
  std::vector<float> Attend(const std::vector<std::pair<size_t, int>>& rows,
                            int layer, int kv_head, int group, int window) {
    std::vector<int> positions;
    std::vector<const PageId*> tables;
    const size_t bytes = path_.QueryBytes(shape_.head_dim);
    std::vector<std::byte> queries((rows.size() * group + 15) * bytes);
    std::byte* to = queries.data();
    for (const auto& [i, position] : rows) {
      positions.push_back(position);
      tables.push_back(tables_[i].data());
      for (int h = 0; h < group; ++h, to += bytes) {
        const auto q = Query(i, position, h);
        path_.PackQuery(q.data(), shape_.head_dim, 0.3f, to);
      }
    }
    std::vector<float> out(rows.size() * group *
                           static_cast<size_t>(path_.PadHead(shape_.head_dim)));
    path_.Attend(*memory_,
                 {.layer = layer,
                  .kv_head = kv_head,
                  .rows = static_cast<int>(rows.size()),
                  .group = group,
                  .positions = positions.data(),
                  .pages = tables.data(),
                  .window = window,
                  .queries = queries.data()},
                 out.data());
    return out;
  }

  // The same by definition.
  std::vector<double> Expected(size_t i, int position, int layer, int kv_head,
                               int h, int window) {
    const size_t dims = static_cast<size_t>(shape_.head_dim);
    const auto q = Query(i, position, h);
    std::vector<double> out(dims);
    double total = 0;
    const int first = window == 0 ? 0 : std::max(0, position + 1 - window);
    for (int j = first; j <= position; ++j) {
      const auto kv = DrawRow(
          2 * dims,
          MixHash(seeds_[i][static_cast<size_t>(j)], layer * 100 + kv_head));
      double score = 0;
      for (size_t d = 0; d < dims; ++d) score += 0.3 * q[d] * Round(kv[d]);
      const double weight = std::exp(score);
      total += weight;
      for (size_t d = 0; d < dims; ++d) out[d] += weight * Round(kv[dims + d]);
    }
    for (double& v : out) v /= total;
    return out;
  }

 private:
  float Round(float x) const {
    return std::string(path_.name()) == "plain" ? x
                                                : Bf16ToFloat(FloatToBf16(x));
  }
  PageId NewPage() {
    memory_->Grow(++pages_);
    return pages_ - 1;
  }
  std::vector<float> Query(size_t i, int position, int h) {
    return DrawRow(static_cast<size_t>(shape_.head_dim),
                   MixHash(seeds_[i][static_cast<size_t>(position)], 7000 + h));
  }

  const KernelPath& path_;
  PageShape shape_;
  std::unique_ptr<PageMemory> memory_;
  int pages_ = 0;
  std::vector<std::vector<PageId>> tables_;
  std::vector<std::vector<uint64_t>> seeds_{8};
};

TEST_P(KernelPathTest, AttentionEqualsSoftmaxOverAllKeys) {
  for (const int head_dim : {16, 32, 64, 80, 128}) {
    const int group = head_dim == 64 ? 3 : 2;
    Paths paths(*path_, {2, 2, head_dim}, 2);
    for (uint64_t t = 0; t < 150; ++t) paths.Append(0, 100 + t);
    const int padded = path_->PadHead(head_dim);
    for (const int window : {0, 1, 20, 70, 500}) {
      for (const int position : {0, 1, 31, 63, 64, 100, 149}) {
        const auto out = paths.Attend({{0, position}}, 1, 1, group, window);
        for (int h = 0; h < group; ++h) {
          const auto expected = paths.Expected(0, position, 1, 1, h, window);
          for (int d = 0; d < head_dim; ++d) {
            ASSERT_NEAR(out[static_cast<size_t>(h * padded + d)],
                        expected[static_cast<size_t>(d)],
                        rounds() ? 0.02 : 1e-4)
                << head_dim << " at " << position << " window " << window;
          }
        }
      }
    }
  }
}

// Branches of one prefix, one of which copies everything: a row's bits do not
// depend on what is computed with it.
TEST_P(KernelPathTest, SharedPagesAndCompanyDoNotChangeARowsBits) {
  for (const int prefix : {64, 100, 128, 161}) {
    Paths paths(*path_, {1, 2, 32}, 6);
    for (int t = 0; t < prefix; ++t) paths.Append(0, 10 + t);
    for (size_t i = 1; i < 5; ++i) paths.Fork(0, i);
    for (int t = 0; t < prefix; ++t) paths.Append(5, 10 + t);
    for (size_t i = 0; i < 6; ++i) {
      const uint64_t branch = i == 5 ? 2 : i;  // 5 is a copy of branch 2
      for (uint64_t t = 0; t < 10 + 7 * branch; ++t) {
        paths.Append(i, 5000 + 100 * branch + t);
      }
    }
    std::vector<std::pair<size_t, int>> rows;
    for (size_t i = 0; i < 6; ++i) {
      // Also several positions of one path, as in a chunk of a prompt.
      for (int back = i == 3 ? 20 : 0; back >= 0; --back) {
        rows.push_back({i, paths.lengths(i) - 1 - back});
      }
    }
    for (const int window : {0, 70}) {
      const auto all = paths.Attend(rows, 0, 1, 3, window);
      const size_t row_size = all.size() / rows.size();
      for (size_t r = 0; r < rows.size(); ++r) {
        const auto alone = paths.Attend({rows[r]}, 0, 1, 3, window);
        ASSERT_EQ(alone, std::vector<float>(all.begin() + r * row_size,
                                            all.begin() + (r + 1) * row_size))
            << "row " << r << " prefix " << prefix << " window " << window;
      }
      const auto two =
          paths.Attend({{2, paths.lengths(2) - 1}}, 0, 1, 3, window);
      EXPECT_EQ(two,
                paths.Attend({{5, paths.lengths(5) - 1}}, 0, 1, 3, window));
    }
  }
}

// VDPBF16PS rounds like two multiplications, the odd input first: so Intel
// documents it.
TEST(Avx512PathTest, BothFormsGiveTheSameBitsOnIntel) {
  if (Avx512Path() == nullptr || !__builtin_cpu_is("intel")) {
    GTEST_SKIP() << "this machine is not an Intel with AVX-512 BF16";
  }
  const KernelPath& dots = Avx512PathOf(TileForm::kDots);
  const KernelPath& fma = Avx512PathOf(TileForm::kFma);
  constexpr int n = 70, k = 333, rows = 11;
  const auto weights = DrawRow(n * k, 3), x = DrawRow(rows * k, 4);
  const auto product = [&](const KernelPath& path) {
    const auto w = path.Pack(
        n, k, WeightKind::kBf16, [&](int begin, int count, float* out) {
          std::copy_n(weights.data() + begin * k, count * k, out);
        });
    std::vector<std::byte> operand(path.OperandBytes(*w, rows));
    path.PackRows(*w, x.data(), k, 0, rows, operand.data());
    std::vector<float> y(16 * 96);
    path.Product(*w, operand.data(), 0, rows, 0, n, y.data(), 96);
    return y;
  };
  EXPECT_EQ(product(dots), product(fma));
  const auto attention = [](const KernelPath& path) {
    Paths paths(path, {1, 1, 80}, 1);
    for (uint64_t t = 0; t < 150; ++t) paths.Append(0, 100 + t);
    return paths.Attend({{0, 30}, {0, 100}, {0, 149}}, 0, 0, 3, 90);
  };
  EXPECT_EQ(attention(dots), attention(fma));
}

INSTANTIATE_TEST_SUITE_P(Paths, KernelPathTest,
                         testing::Values("plain", "avx512_dots", "avx512_fma",
                                         "amx"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace espalier
