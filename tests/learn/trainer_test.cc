#include "src/learn/trainer.h"

#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/learn/tiny_net.h"

namespace espalier {
namespace {

std::string TempPath(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

TEST(Trainer, LossesFall) {
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  StepMetrics first, last;
  for (int i = 0; i < 60; ++i) {
    const auto m = trainer.Step(Walks(30, i));
    ASSERT_TRUE(m.ok()) << m.status();
    if (i == 0) first = *m;
    last = *m;
  }
  EXPECT_GT(first.lm_loss, 2.5);  // ln 32 = 3.47 before learning
  const auto test = trainer.Evaluate(Walks(100, 1000));
  ASSERT_TRUE(test.ok());
  EXPECT_LT(test->lm_loss, 0.1);
  EXPECT_LT(test->step_bce, 0.1);
  EXPECT_LT(test->path_bce, 0.3);
  EXPECT_EQ(last.step, 60);
  EXPECT_EQ(trainer.steps_done(), 60);
}

TEST(Trainer, SameSeedSameWeights) {
  at::Tensor weights[2];
  for (at::Tensor& w : weights) {
    auto net = TinyNet();
    Trainer trainer(*net, TinyOptions());
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
    w = net->weights().clone();
  }
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
}

TEST(Trainer, SameWeightsWithAnyNumberOfThreads) {
  at::Tensor weights[3];
  for (int threads : {1, 2, 3}) {
    auto net = TinyNet();
    TrainerOptions options = TinyOptions();
    options.threads = threads;
    Trainer trainer(*net, options);
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
    weights[threads - 1] = net->weights().clone();
  }
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
  EXPECT_TRUE(at::equal(weights[0], weights[2]));
}

TEST(Trainer, PartialSumsAndMicroBatchesOnlyRound) {
  double norms[2], losses[2];
  for (int i : {0, 1}) {
    auto net = net::LlamaNet::Create(TinyNetConfig(), 1, net::Precision::kFp32);
    ASSERT_TRUE(net.ok());
    TrainerOptions options = TinyOptions();
    options.partial_sums = i == 0 ? 1 : 4;
    options.micro_batch_tokens = i == 0 ? 10000 : 50;
    Trainer trainer(**net, options);
    const auto m = trainer.Step(Walks(20, 3));
    ASSERT_TRUE(m.ok());
    norms[i] = m->grad_norm;
    losses[i] = m->lm_loss;
  }
  EXPECT_NEAR(norms[0], norms[1], 1e-5 * norms[0]);
  EXPECT_NEAR(losses[0], losses[1], 1e-5 * losses[0]);
}

TEST(Trainer, ResumedRunHasTheSameLosses) {
  const std::string path = TempPath("espalier_trainer_resume");
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
  ASSERT_TRUE(trainer.Save(path).ok());
  auto other = net::LlamaNet::Create(TinyNetConfig(), 99);
  ASSERT_TRUE(other.ok());
  Trainer resumed(**other, TinyOptions());
  const absl::Status loaded = resumed.Load(path);
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(resumed.steps_done(), 5);
  for (int i = 5; i < 10; ++i) {
    const auto a = trainer.Step(Walks(20, i));
    const auto b = resumed.Step(Walks(20, i));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->lm_loss, b->lm_loss);
    EXPECT_EQ(a->grad_norm, b->grad_norm);
    EXPECT_EQ(a->learning_rate, b->learning_rate);
  }
  EXPECT_TRUE(at::equal(net->weights(), (*other)->weights()));
  std::filesystem::remove(path);
}

TEST(Trainer, DamagedStateIsRefusedAndChangesNothing) {
  const std::string path = TempPath("espalier_trainer_damage");
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  ASSERT_TRUE(trainer.Save(path).ok());
  const at::Tensor before = net->weights().clone();
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put('\x7f');
  }
  EXPECT_EQ(trainer.Load(path).code(), absl::StatusCode::kDataLoss);
  std::filesystem::resize_file(path, size - 10);
  EXPECT_EQ(trainer.Load(path).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(trainer.Load(path + ".none").code(), absl::StatusCode::kNotFound);
  TrunkConfig wider = TinyNetConfig();
  wider.layers = 3;
  auto other = net::LlamaNet::Create(wider, 1);
  ASSERT_TRUE(other.ok());
  Trainer third(**other, TinyOptions());
  ASSERT_TRUE(third.Save(path).ok());
  EXPECT_EQ(trainer.Load(path).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(at::equal(before, net->weights()));
  std::filesystem::remove(path);
}

TEST(Trainer, NotANumberNamesTheStepAndKeepsTheWeights) {
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  ASSERT_TRUE(trainer.Step(Walks(5, 1)).ok());
  net->Parameter("model.norm.weight")->fill_(kNone);
  const at::Tensor before = net->weights().clone();
  const auto m = trainer.Step(Walks(5, 2));
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(m.status().message().find("step 2"), absl::string_view::npos)
      << m.status();
  EXPECT_EQ(trainer.steps_done(), 1);
  // NaN differs from itself: compare bits.
  EXPECT_TRUE(at::equal(before.view(at::kInt), net->weights().view(at::kInt)));
}

TEST(Trainer, BadSequencesAreRefusedByName) {
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  const auto message = [&](auto&& change) {
    auto batch = Walks(2, 1);
    change(batch);
    const auto m = trainer.Step(batch);
    EXPECT_EQ(m.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(m.status().message());
  };
  EXPECT_NE(message([](auto& b) {
              b[1].tokens[3] = 32;
            }).find("sequence 1 of the batch: token 3 is 32"),
            std::string::npos);
  EXPECT_NE(message([](auto& b) {
              b[0].lm_weight.pop_back();
            }).find("expected one of each per token"),
            std::string::npos);
  EXPECT_NE(message([](auto& b) { b[1] = {}; }).find("0 tokens"),
            std::string::npos);
  EXPECT_NE(message([](auto& b) { b.clear(); }).find("empty batch"),
            std::string::npos);
}

TEST(Trainer, RewardsAreProbabilitiesOfTheLabels) {
  auto net = TinyNet();
  Trainer trainer(*net, TinyOptions());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(trainer.Step(Walks(30, i)).ok());
  const auto batch = Walks(50, 2000);
  const auto rewards = trainer.Rewards(batch);
  ASSERT_TRUE(rewards.ok());
  int right = 0, all = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    ASSERT_EQ((*rewards)[i].size(), batch[i].tokens.size());
    for (size_t t = 1; t < batch[i].tokens.size(); ++t) {
      right += ((*rewards)[i][t].step > 0.5f) ==
               (batch[i].labels[Level::kStep][t] > 0.5f);
      ++all;
    }
  }
  EXPECT_GT(right, all * 0.97);
}

TEST(Trainer, RateWarmsUpThenFalls) {
  auto net = TinyNet();
  Trainer trainer(*net, {.learning_rate = 1,
                         .final_rate = 0.1,
                         .warmup_steps = 10,
                         .total_steps = 110,
                         .threads = 1});
  EXPECT_DOUBLE_EQ(trainer.RateAt(0), 0.1);
  EXPECT_DOUBLE_EQ(trainer.RateAt(9), 1);
  EXPECT_NEAR(trainer.RateAt(60), 0.55, 1e-12);  // halfway through the cosine
  EXPECT_NEAR(trainer.RateAt(110), 0.1, 1e-12);
  EXPECT_NEAR(trainer.RateAt(500), 0.1, 1e-12);
}

// AdamW by the formulas of the paper, in double precision.
TEST(Trainer, UpdateIsAdamW) {
  const net::Kernels& kernels = net::GetKernels(net::Precision::kBf16);
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  constexpr int kN = 32;
  float w[kN], m[kN] = {}, v[kN] = {}, g[2 * kN];
  double rw[kN], rm[kN] = {}, rv[kN] = {};
  for (int i = 0; i < kN; ++i) {
    rw[i] = w[i] = static_cast<float>(rng.Normal());
  }
  for (int step = 1; step <= 5; ++step) {
    for (float& x : g) x = static_cast<float>(rng.Normal());
    const double c1 = 1 / (1 - std::pow(0.9, step));
    const double c2 = 1 / (1 - std::pow(0.95, step));
    kernels.adamw(kN, g, 2, kN, 0.5f, 0.01f, 0.9f, 0.95f, 1e-8f, 0.1f,
                  static_cast<float>(c1), static_cast<float>(c2), w, m, v);
    for (int i = 0; i < kN; ++i) {
      const double grad = 0.5 * (double(g[i]) + g[kN + i]);
      rm[i] = 0.9 * rm[i] + 0.1 * grad;
      rv[i] = 0.95 * rv[i] + 0.05 * grad * grad;
      rw[i] -=
          0.01 * (rm[i] * c1 / (std::sqrt(rv[i] * c2) + 1e-8) + 0.1 * rw[i]);
    }
  }
  for (int i = 0; i < kN; ++i) EXPECT_NEAR(w[i], rw[i], 1e-5);
}

TEST(Packer, EverySequenceIsInOneBatchWhole) {
  std::vector<TrainSequence> sequences;
  for (int i = 0; i < 40; ++i) {
    TrainSequence s;
    s.tokens.assign(10 + i * 7 % 50, i);
    s.lm_weight.assign(s.tokens.size(), 1);
    s.labels[Level::kStep].assign(s.tokens.size(), kNone);
    s.labels[Level::kPath] = s.labels[Level::kStep];
    sequences.push_back(s);
  }
  const auto batches = Pack(sequences, 200, 2);
  EXPECT_EQ(batches.size() % 2, 0u);
  std::vector<int> seen(40, 0);
  for (const MicroBatch& b : batches) {
    EXPECT_LE(b.stream.size(), 260);
    for (size_t i = 0; i + 1 < b.stream.starts.size(); ++i) {
      const int start = b.stream.starts[i];
      const int id = b.stream.tokens[start];
      ++seen[id];
      EXPECT_EQ(b.stream.starts[i + 1] - start,
                static_cast<int>(sequences[id].tokens.size()));
      for (int t = start; t < b.stream.starts[i + 1]; ++t) {
        EXPECT_EQ(b.stream.tokens[t], id);
        EXPECT_EQ(b.stream.positions[t], t - start);
        EXPECT_EQ(b.weight[t], t + 1 < b.stream.starts[i + 1] ? 1 : 0);
      }
    }
  }
  EXPECT_EQ(seen, std::vector<int>(40, 1));
}

}  // namespace
}  // namespace espalier
