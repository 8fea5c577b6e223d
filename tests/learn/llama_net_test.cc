#include "models/differentiable/llama_net.h"

#include <torch/torch.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "base/random.h"
#include "gtest/gtest.h"
#include "src/learn/packer.h"
#include "tests/learn/reference_net.h"

namespace espalier {
namespace {

using net::LlamaNet;
using net::Precision;
using net::Replica;

TrunkConfig SmallConfig(int kv_heads = 2, bool tied = true, int head_dim = 32) {
  return {.vocab_size = 64,
          .hidden_size = 64,
          .intermediate_size = 96,
          .layers = 2,
          .heads = 4,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .context_length = 256,
          .tied_embeddings = tied,
          .reward_head = true};
}

// Sequences with weights 0, 0.5 and 1 and occasional labels.
std::vector<TrainSequence> RandomSequences(std::vector<int> lengths,
                                           uint64_t seed = 1) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  const float none = std::numeric_limits<float>::quiet_NaN();
  std::vector<TrainSequence> out;
  for (int n : lengths) {
    TrainSequence s;
    for (int t = 0; t < n; ++t) {
      s.tokens.push_back(rng.Range(0, 63));
      s.lm_weight.push_back(0.5f * rng.Range(0, 2));
      s.labels[Level::kStep].push_back(t % 7 == 3 ? rng.Uniform() : none);
      s.labels[Level::kPath].push_back(t % 5 == 2 ? rng.Uniform() : none);
    }
    out.push_back(s);
  }
  return out;
}

struct PassResult {
  net::LossSums sums;
  double loss = 0;
  at::Tensor grads;
  at::Tensor hidden;
};

PassResult Pass(const LlamaNet& net, const std::vector<TrainSequence>& batch,
                double factor = 1) {
  MicroBatch micro;
  for (const TrainSequence& s : batch) micro.Add(s);
  PassResult out;
  out.grads = at::zeros({static_cast<int64_t>(net.flat_size())}, at::kFloat);
  Replica replica(net, out.grads.data_ptr<float>());
  const at::Tensor hidden = replica.Hidden(micro.stream);
  const at::Tensor loss =
      replica.Loss(hidden,
                   {.next = micro.next.data(),
                    .weight = micro.weight.data(),
                    .labels = {micro.labels[Level::kStep].data(),
                               micro.labels[Level::kPath].data()},
                    .lm_scale = 0.25f,
                    .reward_scales = {0.5f, 0.75f}},
                   &out.sums);
  // The scalar loss is fp32, which is too coarse for finite differences.
  out.loss = 0.25 * out.sums.lm + 0.5 * out.sums.rewards[0] +
             0.75 * out.sums.rewards[1];
  EXPECT_NEAR(loss.item<float>(), out.loss, 1e-6 * out.loss);
  out.hidden = hidden.detach().clone();
  (loss * factor).backward();
  return out;
}

at::Tensor GradOf(const at::Tensor& grads, const net::NetParameter& p) {
  return grads
      .narrow(0, static_cast<int64_t>(p.offset), static_cast<int64_t>(p.size))
      .view(p.shape);
}

// |a - b| / |b|.
double RelativeError(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / (b.norm() + 1e-12)).item<double>();
}

void ExpectMatchesReference(const TrunkConfig& config, Precision precision,
                            double tolerance) {
  auto net = LlamaNet::Create(config, 3, precision);
  ASSERT_TRUE(net.ok()) << net.status();
  const auto batch = RandomSequences({70, 33, 1, 64, 5});
  const PassResult got = Pass(**net, batch);
  ReferenceNet reference(**net);
  at::Tensor loss = at::zeros({1});
  int row = 0;
  for (const TrainSequence& s : batch) {
    loss = loss + reference.Loss(s, 0.25, 0.5, 0.75);
    const at::Tensor want = reference.Hidden(s.tokens).detach();
    const at::Tensor mine = got.hidden.narrow(0, row, want.size(0));
    EXPECT_LT(RelativeError(mine, want), tolerance);
    row += static_cast<int>(s.tokens.size());
  }
  EXPECT_NEAR(got.loss, loss.item<double>(),
              tolerance * std::fabs(loss.item<double>()));
  loss.backward();
  for (const net::NetParameter& p : (*net)->parameters()) {
    EXPECT_LT(
        RelativeError(GradOf(got.grads, p), reference.w.at(p.name).grad()),
        tolerance)
        << p.name;
  }
}

TEST(LlamaNet, GradientsEqualAtenAutogradInFp32) {
  ExpectMatchesReference(SmallConfig(), Precision::kFp32, 2e-5);
}

TEST(LlamaNet, GradientsEqualAtenAutogradWithoutSharedKeysAndUntied) {
  ExpectMatchesReference(SmallConfig(4, false), Precision::kFp32, 2e-5);
}

TEST(LlamaNet, GradientsEqualAtenAutogradWithWideHeads) {
  ExpectMatchesReference(SmallConfig(1, true, 64), Precision::kFp32, 2e-5);
}

TEST(LlamaNet, Bf16GradientsAreCloseToFp32) {
  if (!net::HaveAmx()) GTEST_SKIP() << "this machine has no AMX";
  // bf16 has 8 bits: 0.4 % per rounding, a few of them in a row.
  ExpectMatchesReference(SmallConfig(), Precision::kBf16, 2e-2);
  ExpectMatchesReference(SmallConfig(4, false), Precision::kBf16, 2e-2);
  ExpectMatchesReference(SmallConfig(1, true, 64), Precision::kBf16, 2e-2);
}

TEST(LlamaNet, GradientsEqualFiniteDifferences) {
  auto net = LlamaNet::Create(SmallConfig(), 5, Precision::kFp32);
  ASSERT_TRUE(net.ok());
  const auto batch = RandomSequences({21, 12});
  const PassResult base = Pass(**net, batch);
  // Along a random direction, one parameter at a time.
  RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
  for (const net::NetParameter& p : (*net)->parameters()) {
    const at::Tensor value = *(*net)->Parameter(p.name);
    const at::Tensor kept = value.clone();
    const at::Tensor grad = GradOf(base.grads, p);
    at::Tensor direction = at::empty_like(kept);
    for (int64_t i = 0; i < direction.numel(); ++i) {
      direction.data_ptr<float>()[i] = static_cast<float>(rng.Normal());
    }
    // Half noise, half gradient direction, so that the slope is well above
    // fp32's rounding error in the difference.
    direction = direction / direction.norm() + grad / grad.norm();
    const double h = 2e-2;
    const auto loss_at = [&](double step) {
      value.copy_(kept + direction * step);
      (*net)->Refresh();
      return Pass(**net, batch).loss;
    };
    // Fourth-order central differences.
    const double slope =
        (8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) /
        (12 * h);
    value.copy_(kept);
    (*net)->Refresh();
    const double want = (grad * direction).sum().item<double>();
    EXPECT_NEAR(slope, want, 5e-3 * std::fabs(want)) << p.name;
  }
}

void ExpectPackingChangesNothing(Precision precision, double tolerance) {
  auto net = LlamaNet::Create(SmallConfig(), 7, precision);
  ASSERT_TRUE(net.ok());
  const auto batch = RandomSequences({40, 100, 3, 32});
  const PassResult together = Pass(**net, batch);
  at::Tensor grads = at::zeros_like(together.grads);
  double loss = 0;
  int row = 0;
  for (const TrainSequence& s : batch) {
    const PassResult alone = Pass(**net, {s});
    const auto n = static_cast<int64_t>(s.tokens.size());
    EXPECT_LT(RelativeError(together.hidden.narrow(0, row, n),
                            alone.hidden.narrow(0, 0, n)),
              1e-6);
    grads += alone.grads;
    loss += alone.loss;
    row += static_cast<int>(n);
  }
  EXPECT_NEAR(together.loss, loss, 1e-5 * loss);
  EXPECT_LT(RelativeError(together.grads, grads), tolerance);
}

TEST(LlamaNet, PackedSequencesDoNotSeeEachOther) {
  ExpectPackingChangesNothing(Precision::kFp32, 1e-5);
}

TEST(LlamaNet, PackedSequencesDoNotSeeEachOtherInBf16) {
  ExpectPackingChangesNothing(Precision::kBf16, 1e-4);
}

TEST(LlamaNet, HeadsEqualReference) {
  auto net = LlamaNet::Create(SmallConfig(), 11, Precision::kFp32);
  ASSERT_TRUE(net.ok());
  const auto batch = RandomSequences({50});
  net::PackedStream stream;
  stream.Add(batch[0].tokens);
  Replica replica(**net, nullptr);
  at::NoGradGuard no_grad;
  const at::Tensor hidden = replica.Hidden(stream);
  ReferenceNet reference(**net);
  const at::Tensor want = reference.Hidden(batch[0].tokens);
  EXPECT_LT(RelativeError(replica.Logits(hidden).narrow(0, 0, 50),
                          reference.Logits(want)),
            1e-5);
  EXPECT_LT(RelativeError(replica.Rewards(hidden).narrow(0, 0, 50),
                          reference.Rewards(want)),
            1e-5);
}

TEST(LlamaNet, UpstreamGradientScalesEveryGradient) {
  auto net = LlamaNet::Create(SmallConfig(), 13, Precision::kFp32);
  ASSERT_TRUE(net.ok());
  const auto batch = RandomSequences({40});
  EXPECT_LT(
      RelativeError(Pass(**net, batch, 3).grads, Pass(**net, batch).grads * 3),
      1e-5);
}

TEST(LlamaNet, RefusesSizesThatTheKernelsCannotRun) {
  TrunkConfig config = SmallConfig();
  config.hidden_size = 72;
  const auto net = LlamaNet::Create(config, 1);
  ASSERT_FALSE(net.ok());
  EXPECT_EQ(net.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(net.status().message().find("hidden_size is 72"),
            absl::string_view::npos)
      << net.status();
}

TEST(LlamaNet, AtenProductsAreForwardedToOneDnn) {
  // The reference BLAS needs half a second for work that takes 20 ms here.
  at::set_num_threads(1);
  const at::Tensor a = at::rand({1024, 1024});
  const at::Tensor b = at::rand({1024, 1024});
  const at::Tensor c = at::matmul(a, b.t());
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    // CPU time, so that other processes do not count.
    const std::clock_t start = std::clock();
    at::matmul(a, b.t());
    best = std::min(best,
                    static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  EXPECT_LT(best, 0.2);
  const at::Tensor row = (a[5].to(at::kDouble) * b[9].to(at::kDouble)).sum();
  EXPECT_NEAR(c[5][9].item<double>(), row.item<double>(), 1e-3);
}

}  // namespace
}  // namespace espalier
