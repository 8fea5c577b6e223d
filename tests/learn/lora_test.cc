#include "src/learn/lora.h"

#include <torch/torch.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "models/checkpoint/safetensors.h"
#include "models/differentiable/load_net.h"
#include "nlohmann/json.hpp"
#include "src/learn/export.h"
#include "src/learn/trainer.h"
#include "tests/learn/reference_net.h"
#include "tests/learn/tiny_net.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using net::LlamaNet;
using net::Precision;

std::unique_ptr<LoraAdapter> MakeAdapter(LlamaNet& net, LoraOptions options,
                                         LoraStart start = {}) {
  auto adapter = LoraAdapter::Create(net, options, start);
  EXPECT_TRUE(adapter.ok()) << adapter.status();
  return std::move(*adapter);
}

at::Tensor ValueOf(const Trainable& trained, const std::string& name,
                   at::Tensor flat) {
  for (const net::NetParameter& p : trained.parameters()) {
    if (p.name != name) continue;
    return flat
        .narrow(0, static_cast<int64_t>(p.offset), static_cast<int64_t>(p.size))
        .view(p.shape);
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

// B starts at 0, which gives A no gradient.
void Randomise(LoraAdapter& adapter, Executor& executor) {
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  for (const net::NetParameter& p : adapter.parameters()) {
    float* values = adapter.values().data_ptr<float>() + p.offset;
    for (size_t i = 0; i < p.size; ++i) {
      values[i] = 0.1f * static_cast<float>(rng.Normal());
    }
  }
  adapter.Apply(executor);
}

// The loss of a batch in one stream; its gradient with respect to the net's
// weights, [1, flat_size], is added to `grads`.
double Loss(const LlamaNet& net, const std::vector<TrainSequence>& batch,
            at::Tensor* grads) {
  MicroBatch micro;
  for (const TrainSequence& s : batch) micro.Add(s);
  net::Replica replica(net, grads ? grads->data_ptr<float>() : nullptr);
  at::AutoGradMode mode(grads != nullptr);
  net::LossSums sums;
  const at::Tensor loss =
      replica.Loss(replica.Hidden(micro.stream),
                   {.next = micro.next.data(),
                    .weight = micro.weight.data(),
                    .labels = {micro.labels[Level::kStep].data(),
                               micro.labels[Level::kPath].data()},
                    .lm_scale = 0.25f,
                    .reward_scales = {0.5f, 0.75f}},
                   &sums);
  if (grads != nullptr) loss.backward();
  // The scalar loss is fp32, which is too coarse for finite differences.
  return 0.25 * sums.lm + 0.5 * sums.rewards[0] + 0.75 * sums.rewards[1];
}

TEST(Lora, FirstValuesAreThoseOfPeftAndChangeNothing) {
  auto net = TinyNet();
  const at::Tensor before = net->weights().clone();
  auto adapter = MakeAdapter(*net, {.rank = 4}, {.reward_head = true});
  // Seven matrices in each of two layers, the head's weight and bias.
  EXPECT_EQ(adapter->parameters().size(), 2u * 7 * 2 + 2);
  for (const net::NetParameter& p : adapter->parameters()) {
    const at::Tensor value = ValueOf(*adapter, p.name, adapter->values());
    if (p.name.find("lora_A") != std::string::npos) {
      // kaiming_uniform_(a=sqrt(5)): variance 1 / (3 in).
      const double bound = 1 / std::sqrt(static_cast<double>(p.shape[1]));
      EXPECT_EQ(p.shape[0], 4);
      EXPECT_LE(value.abs().max().item<float>(), bound);
      EXPECT_NEAR(value.pow(2).mean().item<float>(), bound * bound / 3,
                  0.2 * bound * bound / 3);
    } else if (p.name.find("lora_B") != std::string::npos) {
      EXPECT_EQ(value.abs().max().item<float>(), 0);
    }
  }
  Executor executor(1);
  adapter->Apply(executor);
  EXPECT_TRUE(at::equal(before, net->weights()));
}

// Along a random direction of each A, each B and the head.
TEST(Lora, GradientsEqualFiniteDifferences) {
  auto net = TinyNet(Precision::kFp32);
  Executor executor(2);
  auto adapter =
      MakeAdapter(*net, {.rank = 3, .alpha = 5.0}, {.reward_head = true});
  Randomise(*adapter, executor);
  const auto batch = Walks(6, 1);
  at::Tensor grads = at::zeros({1, static_cast<int64_t>(net->flat_size())});
  Loss(*net, batch, &grads);
  const at::Tensor gradient = adapter->Gradient(grads, executor)[0].clone();
  for (const net::NetParameter& p : adapter->parameters()) {
    at::Tensor value = ValueOf(*adapter, p.name, adapter->values());
    const at::Tensor g = ValueOf(*adapter, p.name, gradient);
    // Half along the gradient, so that the difference is well above rounding.
    at::manual_seed(static_cast<uint64_t>(p.offset));
    const at::Tensor random = at::randn(p.shape);
    const at::Tensor way = random / random.norm() + g / g.norm();
    const at::Tensor was = value.clone();
    constexpr double kStep = 2e-3;
    double losses[2];
    for (int i : {0, 1}) {
      value.copy_(was + (i == 0 ? -kStep : kStep) * way);
      adapter->Apply(executor);
      losses[i] = Loss(*net, batch, nullptr);
    }
    value.copy_(was);
    const double want = (losses[1] - losses[0]) / (2 * kStep);
    EXPECT_NEAR((g * way).sum().item<double>(), want,
                5e-3 * std::fabs(want) + 1e-4)
        << p.name;
  }
}

// W0 + s B A under ATen's own autograd.
TEST(Lora, GradientsEqualAtenAutograd) {
  auto net = TinyNet(Precision::kFp32);
  ReferenceNet reference(*net);
  Executor executor(2);
  auto adapter = MakeAdapter(*net, {.rank = 2, .targets = {"q", "down"}});
  Randomise(*adapter, executor);
  const auto batch = Walks(4, 1);
  at::Tensor grads = at::zeros({1, static_cast<int64_t>(net->flat_size())});
  Loss(*net, batch, &grads);
  const at::Tensor gradient = adapter->Gradient(grads, executor)[0];
  std::map<std::string, at::Tensor> leaves;
  for (const net::NetParameter& p : adapter->parameters()) {
    leaves[p.name] = ValueOf(*adapter, p.name, adapter->values())
                         .clone()
                         .set_requires_grad(true);
  }
  ASSERT_EQ(leaves.size(), 8u);
  for (const char* name : {"self_attn.q_proj.", "mlp.down_proj."}) {
    for (int layer : {0, 1}) {
      const std::string at = absl::StrCat("model.layers.", layer, ".", name);
      reference.w[at + "weight"] = reference.w[at + "weight"].detach() +
                                   2 * at::mm(leaves[at + "lora_B.weight"],
                                              leaves[at + "lora_A.weight"]);
    }
  }
  at::Tensor loss = at::zeros({1});
  for (const TrainSequence& s : batch) {
    loss = loss + reference.Loss(s, 0.25, 0.5, 0.75);
  }
  loss.backward();
  for (const auto& [name, leaf] : leaves) {
    const at::Tensor got = ValueOf(*adapter, name, gradient);
    EXPECT_LT((got - leaf.grad()).norm().item<float>(),
              2e-5 * leaf.grad().norm().item<float>())
        << name;
  }
}

TEST(Lora, LossesFallAndFrozenWeightsKeepTheirBits) {
  auto net = TinyNet();
  const at::Tensor before = net->weights().clone();
  auto adapter = MakeAdapter(*net, {.rank = 8, .targets = {"v", "o", "up"}},
                             {.reward_head = true});
  Trainer trainer(*net, TinyOptions(), adapter.get());
  StepMetrics first;
  for (int i = 0; i < 60; ++i) {
    const auto m = trainer.Step(Walks(30, i));
    ASSERT_TRUE(m.ok()) << m.status();
    if (i == 0) first = *m;
  }
  const auto last = trainer.Evaluate(Walks(100, 1000));
  ASSERT_TRUE(last.ok());
  EXPECT_LT(last->lm_loss, 0.6 * first.lm_loss);
  EXPECT_LT(last->step_bce, 0.6 * first.step_bce);
  for (const net::NetParameter& p : net->parameters()) {
    const bool trained = p.name.find("v_proj") != std::string::npos ||
                         p.name.find("o_proj") != std::string::npos ||
                         p.name.find("up_proj") != std::string::npos ||
                         p.name.find("reward_head") != std::string::npos;
    EXPECT_EQ(at::equal(ValueOf(AllWeights(*net), p.name, before),
                        *net->Parameter(p.name)),
              !trained)
        << p.name;
  }
}

TEST(Lora, AHeadThatIsNotAskedForIsFrozen) {
  auto net = TinyNet();
  const at::Tensor before = net->Parameter("reward_head.weight")->clone();
  auto adapter = MakeAdapter(*net, {.rank = 2});
  Trainer trainer(*net, TinyOptions(), adapter.get());
  ASSERT_TRUE(trainer.Step(Walks(10, 1)).ok());
  EXPECT_TRUE(at::equal(before, *net->Parameter("reward_head.weight")));
}

TEST(Lora, SameWeightsWithAnyNumberOfThreads) {
  at::Tensor weights[3];
  for (int threads : {1, 2, 3}) {
    auto net = TinyNet();
    auto adapter = MakeAdapter(*net, {.rank = 4}, {.reward_head = true});
    TrainerOptions options = TinyOptions();
    options.threads = threads;
    Trainer trainer(*net, options, adapter.get());
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
    weights[threads - 1] = net->weights().clone();
  }
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
  EXPECT_TRUE(at::equal(weights[0], weights[2]));
}

TEST(Lora, ResumedRunHasTheSameLosses) {
  const std::string path = testing::TempDir() + "/lora_resume";
  auto net = TinyNet();
  auto adapter = MakeAdapter(*net, {.rank = 4}, {.reward_head = true});
  Trainer trainer(*net, TinyOptions(), adapter.get());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
  ASSERT_TRUE(trainer.Save(path).ok());
  // Values and two moments, plus a few bytes of description.
  EXPECT_LT(fs::file_size(path),
            3 * 4 * static_cast<size_t>(adapter->values().numel()) + 300);
  auto other = TinyNet();
  // Freshly initialised, then loaded.
  auto drawn =
      MakeAdapter(*other, {.rank = 4}, {.seed = 99, .reward_head = true});
  Trainer resumed(*other, TinyOptions(), drawn.get());
  const absl::Status loaded = resumed.Load(path);
  ASSERT_TRUE(loaded.ok()) << loaded;
  for (int i = 5; i < 10; ++i) {
    const auto a = trainer.Step(Walks(20, i));
    const auto b = resumed.Step(Walks(20, i));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->lm_loss, b->lm_loss);
    EXPECT_EQ(a->grad_norm, b->grad_norm);
  }
  EXPECT_TRUE(at::equal(net->weights(), other->weights()));
  EXPECT_TRUE(at::equal(adapter->values(), drawn->values()));
  fs::remove(path);
}

TEST(Lora, AStateOfAnythingElseIsRefusedAndChangesNothing) {
  const std::string full = testing::TempDir() + "/lora_full";
  const std::string lora = testing::TempDir() + "/lora_lora";
  auto net = TinyNet();
  Trainer all(*net, TinyOptions());
  ASSERT_TRUE(all.Save(full).ok());
  auto adapter = MakeAdapter(*net, {.rank = 4});
  Trainer trainer(*net, TinyOptions(), adapter.get());
  ASSERT_TRUE(trainer.Save(lora).ok());
  const at::Tensor before = net->weights().clone();
  const auto refused = [&](Trainer& by, const std::string& path,
                           const std::string& found, const std::string& mine) {
    const absl::Status status = by.Load(path);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_NE(status.message().find("a training of " + found),
              std::string::npos)
        << status;
    EXPECT_NE(status.message().find("this one is of " + mine),
              std::string::npos)
        << status;
  };
  refused(trainer, full, "all weights", "a LoRA adapter of rank 4, alpha 8 ");
  refused(all, lora, "a LoRA adapter of rank 4", "all weights");
  auto wider = MakeAdapter(*net, {.rank = 5});
  Trainer other(*net, TinyOptions(), wider.get());
  refused(other, lora, "a LoRA adapter of rank 4", "a LoRA adapter of rank 5");
  auto louder = MakeAdapter(*net, {.rank = 4, .alpha = 9.0});
  Trainer scaled(*net, TinyOptions(), louder.get());
  refused(scaled, lora, "a LoRA adapter of rank 4, alpha 8 ",
          "a LoRA adapter of rank 4, alpha 9 ");
  // The same shapes on another base model.
  auto strange = TinyNet(Precision::kBf16, 2);
  auto same = MakeAdapter(*strange, {.rank = 4});
  Trainer based(*strange, TinyOptions(), same.get());
  refused(based, lora, "a LoRA adapter of rank 4", "a LoRA adapter of rank 4");
  EXPECT_TRUE(at::equal(before, net->weights()));
  fs::remove(full);
  fs::remove(lora);
}

TEST(Lora, ImpossibleOptionsAreRefused) {
  auto net = TinyNet();
  const auto message = [&](const LoraOptions& options) {
    const auto adapter = LoraAdapter::Create(*net, options, {});
    EXPECT_EQ(adapter.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(adapter.status().message());
  };
  const auto says = [&](const LoraOptions& options, const std::string& word) {
    EXPECT_NE(message(options).find(word), std::string::npos)
        << message(options);
  };
  says({.rank = -1}, "--lora-rank -1: expected 0");
  says({.rank = 4, .alpha = 0.0}, "--lora-alpha 0");
  says({.rank = 4, .alpha = std::nan("")}, "--lora-alpha nan");
  says({.rank = 4, .targets = {"q", "gte"}}, "did you mean \"gate\"");
  says({.alpha = 8.0}, "--lora-rank 8");
  says({.targets = {"q"}}, "--lora-targets needs an adapter");
  // k is [32, 64]; with only `up` as target rank 64 fits.
  says({.rank = 33}, "expected 1 to 32");
  EXPECT_TRUE(
      LoraAdapter::Create(*net, {.rank = 64, .targets = {"up"}}, {}).ok());
  EXPECT_TRUE(CheckLora({}).ok());
  EXPECT_EQ((LoraOptions{.targets = {"down", "q", "q"}}.Targets()),
            (std::vector<std::string>{"q", "down"}));
}

// The merged checkpoint against the base weights plus what PEFT would add for
// the adapter's files, all computed here.
TEST(Lora, MergedCheckpointIsTheBasePlusTheFilesOfTheAdapter) {
  const std::string folder = testing::TempDir() + "/lora_export";
  const std::string base = folder + "/base", merged = folder + "/merged",
                    peft = merged + "/adapter";
  {
    const absl::Status saved = ExportCheckpoint(*TinyNet(), "{}", base);
    ASSERT_TRUE(saved.ok()) << saved;
  }
  auto net = net::LoadNet(base, {});
  ASSERT_TRUE(net.ok()) << net.status();
  auto adapter =
      MakeAdapter(**net, {.rank = 4, .alpha = 6.0}, {.reward_head = true});
  Trainer trainer(**net, TinyOptions(), adapter.get());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(trainer.Step(Walks(20, i)).ok());
  ASSERT_TRUE(ExportCheckpoint(**net, "{}", merged).ok());
  const absl::Status exported = ExportAdapter(*adapter, base, peft);
  ASSERT_TRUE(exported.ok()) << exported;

  const auto config =
      nlohmann::json::parse(ReadFile(peft + "/adapter_config.json").value());
  EXPECT_EQ(config["peft_type"], "LORA");
  EXPECT_EQ(config["task_type"], "CAUSAL_LM");
  EXPECT_EQ(config["bias"], "none");
  EXPECT_EQ(config["r"], 4);
  EXPECT_EQ(config["lora_alpha"].dump(), "6");
  EXPECT_EQ(config["base_model_name_or_path"], base);
  EXPECT_EQ(config["modules_to_save"].dump(), "[\"reward_head\"]");
  EXPECT_EQ(config["target_modules"].dump(),
            "[\"q_proj\",\"k_proj\",\"v_proj\",\"o_proj\",\"gate_proj\","
            "\"up_proj\",\"down_proj\"]");
  const auto file = SafetensorsFile::Open(peft + "/adapter_model.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), 2u * 7 * 2 + 2);
  const auto tensor = [&](const std::string& name) {
    EXPECT_TRUE(file->tensors().contains(name)) << name;
    return at::tensor(file->Floats(name).value())
        .view(file->tensors().at(name).shape);
  };
  const std::string q = "base_model.model.model.layers.1.self_attn.q_proj.";
  EXPECT_EQ(tensor(q + "lora_A.weight").sizes(), at::IntArrayRef({4, 64}));
  EXPECT_EQ(tensor(q + "lora_B.weight").sizes(), at::IntArrayRef({64, 4}));

  const auto from = net::LoadNet(base, {.precision = Precision::kFp32});
  const auto to = net::LoadNet(merged, {.precision = Precision::kFp32});
  ASSERT_TRUE(from.ok() && to.ok()) << to.status();
  ReferenceNet sum(**from), got(**to);
  for (auto& [name, weight] : sum.w) {
    const std::string module =
        "base_model.model." + name.substr(0, name.rfind('.') + 1);
    if (name.starts_with("reward_head")) {
      weight = tensor("base_model.model." + name);
    } else if (name.ends_with("_proj.weight")) {
      weight = weight.detach() + 6.0 / 4 *
                                     at::mm(tensor(module + "lora_B.weight"),
                                            tensor(module + "lora_A.weight"));
    } else {
      EXPECT_TRUE(at::equal(weight, got.w.at(name))) << name;
    }
  }
  // bf16 keeps 8 bits of each weight.
  at::NoGradGuard no_grad;
  const std::vector<int32_t> tokens = Walks(1, 5)[0].tokens;
  const at::Tensor want = sum.Logits(sum.Hidden(tokens));
  const at::Tensor base_logits = [&] {
    ReferenceNet plain(**from);
    return plain.Logits(plain.Hidden(tokens));
  }();
  const double error =
      (got.Logits(got.Hidden(tokens)) - want).norm().item<double>();
  EXPECT_LT(error, 0.02 * want.norm().item<double>());
  EXPECT_LT(error, 0.1 * (base_logits - want).norm().item<double>());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace espalier
