#include "models/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/bfloat16.h"
#include "base/random.h"
#include "hwy/targets.h"

namespace espalier {
namespace {

std::vector<float> DrawValues(size_t n, uint64_t seed, bool bf16 = false) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<float> values(n);
  for (float& v : values) {
    v = static_cast<float>(rng.Normal());
    if (bf16) v = Bf16ToFloat(FloatToBf16(v));
  }
  return values;
}

PackedMatrix Pack(const std::vector<float>& weights, int n, int k,
                  WeightKind kind) {
  return PackedMatrix(n, k, kind, [&](int begin, int count, float* out) {
    std::copy_n(weights.data() + begin * k, count * k, out);
  });
}

// Runs `body` once on every instruction set of this machine.
template <class Body>
void OnEveryTarget(const Body& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(KernelsTest, ProductEqualsPlainSumsOnEveryTarget) {
  for (const WeightKind kind :
       {WeightKind::kFp32, WeightKind::kBf16, WeightKind::kInt8}) {
    for (const auto& [n, k] :
         {std::pair{64, 32}, {130, 47}, {1, 5}, {200, 64}}) {
      std::vector<float> weights = DrawValues(static_cast<size_t>(n * k), 1);
      const auto x = DrawValues(static_cast<size_t>(13 * k), 2);
      const PackedMatrix packed = Pack(weights, n, k, kind);
      for (int i = 0; i < n; ++i) {
        std::vector<float> row(static_cast<size_t>(k));
        packed.Row(i, row.data());
        const float off = kind == WeightKind::kFp32   ? 0
                          : kind == WeightKind::kBf16 ? 0.02f
                                                      : 0.03f;
        for (int j = 0; j < k; ++j) {
          ASSERT_NEAR(row[static_cast<size_t>(j)], weights[i * k + j], off);
          weights[i * k + j] = row[static_cast<size_t>(j)];
        }
      }
      OnEveryTarget([&] {
        const size_t stride = static_cast<size_t>(PadToPanel(n));
        std::vector<float> y(13 * stride);
        MatMul(x.data(), static_cast<size_t>(k), 13, packed, 0, n, y.data(),
               stride);
        for (int r = 0; r < 13; ++r) {
          for (int c = 0; c < n; ++c) {
            double sum = 0;
            for (int i = 0; i < k; ++i) {
              sum += static_cast<double>(x[r * k + i]) * weights[c * k + i];
            }
            ASSERT_NEAR(y[static_cast<size_t>(r) * stride + c], sum, 1e-4);
          }
        }
      });
    }
  }
}

TEST(KernelsTest, ARowsBitsDoNotDependOnTheNumberOfRows) {
  constexpr int n = 96, k = 70;
  const auto x = DrawValues(40 * k, 3);
  const PackedMatrix packed =
      Pack(DrawValues(n * k, 4), n, k, WeightKind::kFp32);
  OnEveryTarget([&] {
    std::vector<float> all(40 * 128), one(128);
    MatMul(x.data(), k, 40, packed, 0, n, all.data(), 128);
    for (int rows = 1; rows <= 40; ++rows) {
      std::vector<float> some(static_cast<size_t>(rows) * 128);
      MatMul(x.data() + (40 - rows) * k, k, rows, packed, 0, n, some.data(),
             128);
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < n; ++c) {
          ASSERT_EQ(some[static_cast<size_t>(r * 128 + c)],
                    all[static_cast<size_t>((40 - rows + r) * 128 + c)]);
        }
      }
    }
  });
}

TEST(KernelsTest, AttentionEqualsSoftmaxOverAllKeys) {
  constexpr int kDim = 40, kPages = 4;
  constexpr int kHeads = kAttendHeads + 3;
  const auto queries = DrawValues(kHeads * kDim, 5);
  const auto keys = DrawValues(kPages * kDim * 64, 6);
  const auto values = DrawValues(kPages * kDim * 64, 7);
  std::vector<const float*> k, v;
  for (int p = 0; p < kPages; ++p) {
    k.push_back(keys.data() + p * kDim * 64);
    v.push_back(values.data() + p * kDim * 64);
  }
  const auto expect_softmax = [&](const float* query, const float* out,
                                  int first, int position, double cap) {
    std::vector<double> score(static_cast<size_t>(position) + 1, -1e300);
    double highest = -1e300, total = 0;
    for (int j = first; j <= position; ++j) {
      double s = 0;
      for (int d = 0; d < kDim; ++d) {
        s += static_cast<double>(query[d]) * k[j / 64][d * 64 + j % 64];
      }
      if (cap > 0) s = cap * std::tanh(s / cap);
      score[j] = s;
      highest = std::max(highest, s);
    }
    for (double& s : score) total += s = std::exp(s - highest);
    for (int d = 0; d < kDim; ++d) {
      double expected = 0;
      for (int j = 0; j <= position; ++j) {
        expected += score[j] / total * v[j / 64][(j % 64) * kDim + d];
      }
      ASSERT_NEAR(out[d], expected, 1e-4) << position;
    }
  };
  OnEveryTarget([&] {
    for (const int heads : {1, 2, kHeads}) {
      for (const int position : {0, 1, 2, 7, 62, 63, 64, 130, 255}) {
        std::vector<float> out(static_cast<size_t>(heads) * kDim);
        for (const int first : {0, position / 3, position}) {
          const float cap = first == 0 ? 0.0f : 2.5f;
          Attend(queries.data(), heads, k.data(), v.data(), first, position,
                 kDim, out.data(), cap);
          for (int h = 0; h < heads; ++h) {
            expect_softmax(queries.data() + h * kDim, out.data() + h * kDim,
                           first, position, cap);
          }
        }
      }
    }
  });
}

double Formula(Activation act, double x) {
  if (act == Activation::kSilu) return x / (1 + std::exp(-x));
  if (act == Activation::kGelu) return x / 2 * (1 + std::erf(x / std::sqrt(2)));
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(KernelsTest, ActivationsEqualTheirFormulas) {
  const auto gate = DrawValues(101, 8), up = DrawValues(101, 9);
  for (const Activation act :
       {Activation::kSilu, Activation::kGeluTanh, Activation::kGelu}) {
    OnEveryTarget([&] {
      std::vector<float> y = gate, gated = gate;
      Activate(act, y.data(), 101);
      ActivateMul(act, gated.data(), up.data(), 101);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(y[i], Formula(act, gate[i]), 2e-6);
        ASSERT_NEAR(gated[i], Formula(act, gate[i]) * up[i], 1e-5);
      }
    });
  }
}

TEST(KernelsTest, NormsEqualTheirFormulas) {
  const auto x = DrawValues(77, 10), weight = DrawValues(77, 11),
             bias = DrawValues(77, 12);
  double squares = 0, sum = 0;
  for (const float v : x) squares += static_cast<double>(v) * v;
  for (const float v : x) sum += v;
  const double mean = sum / 77, variance = squares / 77 - mean * mean;
  OnEveryTarget([&] {
    std::vector<float> y(77);
    RmsNorm(x.data(), weight.data(), 77, 1e-5f, y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], x[i] / std::sqrt(squares / 77 + 1e-5) * weight[i],
                  1e-5);
    }
    LayerNorm(x.data(), weight.data(), bias.data(), 77, 1e-5f, y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(
          y[i],
          (x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i],
          1e-5);
    }
  });
}

}  // namespace
}  // namespace espalier
