// Training of several heads per level.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "models/checkpoint/safetensors.h"
#include "models/differentiable/load_net.h"
#include "nlohmann/json.hpp"
#include "src/learn/train_run.h"
#include "src/learn/trainer.h"
#include "tests/learn/tiny_net.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = "models/zoo/countdown-base";

// Nine groups of `size` walks each.
std::vector<SequenceGroup> WalkGroups(int size) {
  std::vector<SequenceGroup> groups(9);
  size_t next = 0;
  const auto walks = Walks(9 * size, 3);
  for (SequenceGroup& group : groups) {
    for (int k = 0; k < size; ++k) {
      group.push_back({.sequence = walks[next++], .advantage = 1});
    }
  }
  return groups;
}

// The tiny net with `heads` heads, all equal to the single one's.
std::unique_ptr<net::LlamaNet> Ensemble(const net::LlamaNet& single,
                                        int heads) {
  TrunkConfig config = TinyNetConfig();
  config.reward_ensemble = heads;
  auto net = net::LlamaNet::Create(config, 1, net::Precision::kFp32).value();
  for (const net::NetParameter& p : single.parameters()) {
    const at::Tensor from = *single.Parameter(p.name);
    at::Tensor to = *net->Parameter(p.name);
    if (p.name.rfind("reward_head.", 0) == 0) {
      to.copy_(at::cat(std::vector<at::Tensor>(heads, from)));
    } else {
      to.copy_(from);
    }
  }
  net->Refresh();
  return net;
}

// The part of a gradient that belongs to a parameter, [rows, ...].
at::Tensor PartOf(const std::vector<float>& gradient, const net::LlamaNet& net,
                  const std::string& name) {
  for (const net::NetParameter& p : net.parameters()) {
    if (p.name != name) continue;
    return torch::tensor(
               std::vector<float>(
                   gradient.begin() + static_cast<std::ptrdiff_t>(p.offset),
                   gradient.begin() +
                       static_cast<std::ptrdiff_t>(p.offset + p.size)))
        .view(p.shape);
  }
  ADD_FAILURE() << name;
  return {};
}

// With heads that agree, the loss is the mean of their weights times that of
// one head: 2, 0 and 1 of three, and each head's gradient is its share.
TEST(EnsembleTest, HeadsLearnFromTheirSamples) {
  for (const char* spec : {"bce", "pairwise"}) {
    const auto objective = MakeObjective(spec).value();
    const auto one = TinyNet(net::Precision::kFp32, 7);
    const auto three = Ensemble(*one, 3);
    std::vector<SequenceGroup> groups = WalkGroups(objective->group_size());
    Trainer single(*one, {.threads = 2, .micro_batch_tokens = 64});
    Trainer ensemble(*three, {.threads = 2, .micro_batch_tokens = 64});
    double loss = 0, same = 0, weighted = 0;
    const auto expected = single.Gradient(*objective, groups, &loss).value();
    // Without samples every head learns from everything.
    const auto even = ensemble.Gradient(*objective, groups, &same).value();
    EXPECT_NEAR(same, loss, 1e-6 * std::abs(loss));
    for (SequenceGroup& group : groups) group.front().draws = {2, 0, 1};
    const auto drawn = ensemble.Gradient(*objective, groups, &weighted).value();
    EXPECT_NEAR(weighted, loss, 1e-6 * std::abs(loss));
    for (const net::NetParameter& p : one->parameters()) {
      const at::Tensor wanted = PartOf(expected, *one, p.name);
      const at::Tensor a = PartOf(even, *three, p.name);
      const at::Tensor b = PartOf(drawn, *three, p.name);
      const double size = wanted.abs().max().item<double>();
      const auto close = [&](const at::Tensor& got, const at::Tensor& want) {
        EXPECT_LE((got - want).abs().max().item<double>(), 1e-5 * size + 1e-8)
            << spec << " " << p.name;
      };
      if (p.name.rfind("reward_head.", 0) != 0) {
        close(a, wanted);
        close(b, wanted);
        continue;
      }
      const int64_t rows = wanted.size(0);
      // Of a pair the biases' derivatives cancel.
      if (p.name == "reward_head.weight") {
        EXPECT_GT(size, 0) << spec;
      }
      for (int64_t head = 0; head < 3; ++head) {
        const double weight = head == 0 ? 2 : head == 1 ? 0 : 1;
        close(a.narrow(0, head * rows, rows), wanted / 3);
        close(b.narrow(0, head * rows, rows), wanted * (weight / 3));
      }
    }
    // Every problem's loss counts as often as the head drew it.
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i].front().draws = {3 * static_cast<int>(i == 0), 0, 0};
    }
    double first = 0;
    ensemble.Gradient(*objective, groups, &first).value();
    double alone = 0;
    double count = 0;
    for (const SequenceGroup& group : groups) count += objective->Count(group);
    for (SequenceGroup& group : groups) group.front().draws.clear();
    single.Gradient(*objective, absl::MakeConstSpan(groups.data(), 1), &alone)
        .value();
    EXPECT_NEAR(first, alone * objective->Count(groups[0]) / count,
                1e-5 * std::abs(first));
  }
}

TEST(EnsembleTest, AnEnsemblesScoresAreTheMeanOfItsHeads) {
  TrunkConfig config = TinyNetConfig();
  config.reward_ensemble = 3;
  const auto net =
      net::LlamaNet::Create(config, 5, net::Precision::kFp32).value();
  const auto walks = Walks(2, 1);
  Trainer trainer(*net, {.threads = 2});
  const auto got = trainer.Rewards(walks).value();
  // Each head alone.
  std::vector<std::vector<std::vector<StepScores>>> heads;
  for (int64_t head = 0; head < 3; ++head) {
    const auto one = TinyNet(net::Precision::kFp32, 5);
    for (const net::NetParameter& p : one->parameters()) {
      const at::Tensor from = *net->Parameter(p.name);
      const bool reward = p.name.rfind("reward_head.", 0) == 0;
      one->Parameter(p.name)->copy_(reward ? from.narrow(0, 2 * head, 2)
                                           : from);
    }
    one->Refresh();
    Trainer alone(*one, {.threads = 2});
    heads.push_back(alone.Rewards(walks).value());
  }
  for (size_t i = 0; i < walks.size(); ++i) {
    for (size_t t = 0; t < walks[i].tokens.size(); ++t) {
      for (const Level level : {Level::kStep, Level::kPath}) {
        double mean = 0, squares = 0;
        for (const auto& head : heads) mean += head[i][t][level] / 3;
        for (const auto& head : heads) {
          squares += std::pow(head[i][t][level] - mean, 2) / 3;
        }
        EXPECT_NEAR(got[i][t][level], mean, 1e-6);
        EXPECT_NEAR(got[i][t].spread_of(level), std::sqrt(squares), 1e-6);
      }
    }
  }
}

// Lines to learn from, and a folder for what is trained.
class EnsembleRunTest : public testing::Test {
 protected:
  EnsembleRunTest() {
    std::string name = (fs::temp_directory_path() / "heads_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream lines(Path("reward.jsonl"));
    for (int i = 1; i <= 24; ++i) {
      const int b = i % 7 + 1;
      const std::string right = absl::StrCat(i, "+", b, "=", i + b, "\n");
      lines << nlohmann::json{{"prompt", absl::StrCat(i, " ", b, "\n")},
                              {"completions", {right, "give up\n"}},
                              {"values", {1.0, i % 2 == 0 ? 0.0 : 0.25}}}
                   .dump()
            << "\n";
    }
  }
  ~EnsembleRunTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  TrainRunOptions Reward(const std::string& out) const {
    return {.model = kModel,
            .data = Path("reward.jsonl"),
            .out = Path(out),
            .objective = "bce",
            .train_data = {.contamination = {.off = true}},
            .epochs = 4,
            .batch_tokens = 150,
            .learning_rate = 1e-3,
            .save_every = 3};
  }
  void Refused(const TrainRunOptions& options, const std::string& word) {
    FilterLog log;
    const auto report = TrainModel(options, nullptr, log);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.status().message().find(word), std::string::npos)
        << report.status();
  }

  fs::path folder_;
};

// Heads of an ensemble: stored head by head, and told apart by what each drew.
TEST_F(EnsembleRunTest, AnEnsembleIsTrainedAndStored) {
  FilterLog log;
  TrainRunOptions options = Reward("five");
  options.ensemble = 5;
  const auto report = TrainModel(options, nullptr, log);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LT(report->last_loss, 0.8 * report->first_loss);
  TrainRunOptions one = Reward("one");
  one.epochs = 1;
  ASSERT_TRUE(TrainModel(one, nullptr, log).ok());
  const auto config = [&](const std::string& out) {
    return nlohmann::json::parse(ReadFile(Path(out) + "/config.json").value());
  };
  EXPECT_EQ(config("five")["espalier_heads"].dump(),
            R"({"ensemble":5,"reward":["path"]})");
  EXPECT_EQ(config("one")["espalier_heads"].dump(), R"({"reward":["path"]})");
  const auto file =
      SafetensorsFile::Open(Path("five") + "/model.safetensors").value();
  EXPECT_EQ(file.tensors().at("reward_head.weight").shape[0], 5);
  EXPECT_EQ(file.tensors().at("reward_head.bias").shape[0], 5);
  const auto net = net::LoadNet(Path("five"), {}).value();
  ASSERT_EQ(net->config().reward_ensemble, 5);
  const at::Tensor weight = *net->Parameter("reward_head.weight");
  for (int64_t a = 0; a < 5; ++a) {
    for (int64_t b = a + 1; b < 5; ++b) {
      EXPECT_FALSE(at::equal(weight[a], weight[b]));
    }
  }
  TrainDataOptions data = options.train_data;
  data.kind = ExampleKind::kSteps;
  const auto tokenizer = Tokenizer::Load(kModel).value();
  const auto again =
      LoadTrainData(Path("reward.jsonl"), data, *tokenizer, -1, log).value();
  Trainer trainer(*net, {});
  for (size_t i = 0; i < 2; ++i) {
    const auto scores =
        trainer.Rewards({again.groups[i][0].sequence}).value()[0].back();
    EXPECT_GT(scores.spread_of(Level::kPath), 0);
  }
  // More heads begin with the weights of these, from the first one on.
  const auto more = net::LoadNet(Path("five"), {.reward_ensemble = 7}).value();
  const at::Tensor seven = *more->Parameter("reward_head.weight");
  ASSERT_EQ(seven.size(0), 7);
  EXPECT_TRUE(at::equal(seven[4], weight[4]));
  EXPECT_TRUE(at::equal(seven[6], weight[1]));
  // Of a policy, and too many.
  options = Reward("policy");
  options.objective = "sft";
  options.ensemble = 2;
  Refused(options, "--ensemble 2");
  options = Reward("many");
  options.ensemble = 17;
  Refused(options, "1 to 16");
}

}  // namespace
}  // namespace espalier
