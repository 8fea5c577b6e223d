#include "src/learn/tree_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "base/random.h"
#include "src/learn/trainer.h"
#include "tests/learn/reference_net.h"

namespace espalier {
namespace {

using net::LlamaNet;
using net::Precision;
using ::testing::ElementsAre;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

TrunkConfig SmallConfig() {
  return {.vocab_size = 64,
          .hidden_size = 64,
          .intermediate_size = 96,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 32,
          .context_length = 512,
          .reward_head = true};
}

TrainSequence Plain(std::vector<int32_t> tokens) {
  const size_t n = tokens.size();
  return {std::move(tokens), std::vector<float>(n, 1),
          std::vector<float>(n, kNone), std::vector<float>(n, kNone)};
}

void Extend(GroupSequence& g, RandomStream& rng, int n, bool counts) {
  for (int t = 0; t < n; ++t) {
    g.sequence.tokens.push_back(rng.Range(0, 63));
    g.sequence.lm_weight.push_back(counts ? 0.5f * rng.Range(0, 2) : 0);
    g.sequence.labels[Level::kStep].push_back(kNone);
    g.sequence.labels[Level::kPath].push_back(kNone);
    g.old_logprobs.push_back(-4 - rng.Uniform());
    g.reference.push_back(-4 - rng.Uniform());
  }
  g.sequence.labels[Level::kPath].back() = rng.Uniform();
  g.sequence.labels[Level::kStep].back() = rng.Uniform();
}

// The paths of a tree: a prompt, then `branches` steps below each node, `depth`
// levels deep. Each path has its own weights and labels below a branch.
SequenceGroup RandomTree(RandomStream& rng, int branches, int depth) {
  SequenceGroup paths(1);
  Extend(paths[0], rng, rng.Range(20, 70), false);
  for (int level = 0; level < depth; ++level) {
    SequenceGroup next;
    for (const GroupSequence& path : paths) {
      for (int b = 0; b < branches; ++b) {
        next.push_back(path);
        Extend(next.back(), rng, rng.Range(1, 40), true);
      }
    }
    paths = std::move(next);
  }
  for (GroupSequence& path : paths) path.advantage = rng.Uniform() - 0.5f;
  return paths;
}

// Groups of `size` neighbouring paths; 0: one group of all.
std::vector<SequenceGroup> Regroup(const SequenceGroup& paths, int size) {
  std::vector<SequenceGroup> groups;
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool begins = size == 0 ? i == 0 : i % static_cast<size_t>(size) == 0;
    if (begins) groups.emplace_back();
    groups.back().push_back(paths[i]);
  }
  if (size > 0 && static_cast<int>(groups.back().size()) < size) {
    groups.pop_back();
  }
  return groups;
}

TEST(TreePackerTest, SharedTokensAreThereOnce) {
  const std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto with = [&](std::vector<int32_t> end) {
    std::vector<int32_t> tokens = prompt;
    tokens.insert(tokens.end(), end.begin(), end.end());
    return Plain(tokens);
  };
  const TrainSequence a = with({20, 21}), b = with({30}), c = with({20, 22}),
                      other = Plain({1, 2, 9}), again = with({30});
  const TreeStream trees =
      PackTrees({&a, &b, &c, &other, &again}, /*share=*/true);
  EXPECT_THAT(trees.stream.tokens,
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 30, 1, 2, 9));
  EXPECT_THAT(trees.stream.positions,
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 0, 1, 2));
  EXPECT_THAT(trees.stream.ends, ElementsAre(12, 12, 12, 12, 12, 12, 12, 12, 11,
                                             10, 11, 12, 15, 15, 15));
  EXPECT_THAT(trees.parents,
              ElementsAre(-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 7, -1, 12, 13));
  EXPECT_THAT(trees.stream.starts, ElementsAre(0, 12, 15));
  EXPECT_THAT(trees.rows[2], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 10));
  EXPECT_EQ(trees.rows[1], trees.rows[4]);
  const TreeStream apart = PackTrees({&a, &b}, /*share=*/false);
  EXPECT_THAT(apart.stream.starts, ElementsAre(0, 10, 19));
}

// By the ranges, a row sees exactly the tokens before it on its paths.
TEST(TreePackerTest, RowsSeeTheirAncestorsAlone) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (int round = 0; round < 20; ++round) {
    const SequenceGroup paths = RandomTree(rng, 1 + round % 4, 3);
    std::vector<const TrainSequence*> sequences;
    for (const GroupSequence& g : paths) sequences.push_back(&g.sequence);
    const TreeStream trees = PackTrees(sequences, true);
    const int n = trees.stream.size();
    for (size_t s = 0; s < sequences.size(); ++s) {
      for (size_t t = 0; t < trees.rows[s].size(); ++t) {
        const auto row = static_cast<size_t>(trees.rows[s][t]);
        ASSERT_EQ(trees.stream.tokens[row], sequences[s]->tokens[t]);
        ASSERT_EQ(trees.stream.positions[row], t);
        std::vector<int32_t> seen;
        for (int j = 0; j <= static_cast<int>(row); ++j) {
          if (trees.stream.ends[static_cast<size_t>(j)] >
              static_cast<int>(row)) {
            seen.push_back(j);
          }
        }
        const auto& rows = trees.rows[s];
        ASSERT_EQ(seen, std::vector<int32_t>(
                            rows.begin(),
                            rows.begin() + static_cast<std::ptrdiff_t>(t) + 1));
      }
    }
    ASSERT_EQ(trees.stream.starts.back(), n);
  }
}

// |a - b| / |b| of one parameter. Where its gradient is almost zero (a bias
// under differences of rewards), the error relative to a thousandth of the
// whole gradient.
double ErrorOf(const net::NetParameter& p, const at::Tensor& a,
               const at::Tensor& b) {
  const auto part = [&](const at::Tensor& x) {
    return x.narrow(0, static_cast<int64_t>(p.offset),
                    static_cast<int64_t>(p.size));
  };
  const double norm =
      std::max(part(b).norm().item<double>(), 1e-3 * b.norm().item<double>());
  return (part(a) - part(b)).norm().item<double>() / norm;
}

void ExpectSameGradients(Precision precision, double tolerance) {
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  const auto net = LlamaNet::Create(SmallConfig(), 3, precision).value();
  TrainerOptions options{.threads = 2, .micro_batch_tokens = 4096};
  Trainer shared(*net, options);
  options.share_prefixes = false;
  Trainer apart(*net, options);
  for (const char* spec : {"sft", "dpo:beta=0.5", "orpo:lambda=0.5",
                           "grpo:kl=0.1", "bce", "mse", "pairwise"}) {
    const auto objective = MakeObjective(spec).value();
    std::vector<SequenceGroup> groups;
    for (int tree = 0; tree < 5; ++tree) {
      for (SequenceGroup& group :
           Regroup(RandomTree(rng, 2 + tree % 2, 3), objective->group_size())) {
        groups.push_back(std::move(group));
      }
    }
    double losses[2];
    const auto a = shared.Gradient(*objective, groups, &losses[0]);
    const auto b = apart.Gradient(*objective, groups, &losses[1]);
    ASSERT_TRUE(a.ok()) << a.status();
    ASSERT_TRUE(b.ok()) << b.status();
    EXPECT_NEAR(losses[0], losses[1], tolerance * std::fabs(losses[1])) << spec;
    for (const net::NetParameter& p : net->parameters()) {
      EXPECT_LT(ErrorOf(p, at::tensor(*a), at::tensor(*b)), tolerance)
          << spec << " " << p.name;
    }
  }
}

TEST(TreePackerTest, GradientsEqualPathByPathInFp32) {
  ExpectSameGradients(Precision::kFp32, 1e-5);
}

TEST(TreePackerTest, GradientsAreCloseToPathByPathInBf16) {
  if (!net::HaveAmx()) GTEST_SKIP() << "this machine has no AMX";
  ExpectSameGradients(Precision::kBf16, 2e-2);
}

TEST(TreePackerTest, GradientsEqualAtenAutogradPathByPath) {
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  const auto net = LlamaNet::Create(SmallConfig(), 5, Precision::kFp32).value();
  Trainer trainer(*net, {.threads = 1, .micro_batch_tokens = 4096});
  const SequenceGroup paths = RandomTree(rng, 3, 3);
  const auto objective = MakeObjective("sft").value();
  double loss = 0, weight = 0;
  const auto got = trainer.Gradient(*objective, Regroup(paths, 1), &loss);
  ASSERT_TRUE(got.ok()) << got.status();
  ReferenceNet reference(*net);
  at::Tensor want = at::zeros({1});
  for (const GroupSequence& g : paths) {
    want = want + reference.Loss(g.sequence, 1, 0, 0);
    for (size_t t = 1; t < g.sequence.tokens.size(); ++t) {
      weight += static_cast<double>(g.sequence.lm_weight[t]);
    }
  }
  want = want / weight;
  EXPECT_NEAR(loss, want.item<double>(), 1e-5);
  want.backward();
  const at::Tensor flat = at::tensor(*got);
  for (const net::NetParameter& p : net->parameters()) {
    const at::Tensor& grad = reference.w.at(p.name).grad();
    if (!grad.defined()) continue;
    const at::Tensor mine = flat.narrow(0, static_cast<int64_t>(p.offset),
                                        static_cast<int64_t>(p.size))
                                .view(p.shape);
    EXPECT_LT(((mine - grad).norm() / (grad.norm() + 1e-12)).item<double>(),
              2e-5)
        << p.name;
  }
}

TEST(TreePackerTest, AStepCountsWhatItComputed) {
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  const auto net = LlamaNet::Create(SmallConfig(), 5, Precision::kFp32).value();
  Trainer trainer(*net, {.micro_batch_tokens = 4096});
  const SequenceGroup paths = RandomTree(rng, 3, 2);
  const auto m =
      trainer.StepObjective(*MakeObjective("sft").value(), Regroup(paths, 1));
  ASSERT_TRUE(m.ok()) << m.status();
  std::vector<const TrainSequence*> sequences;
  int64_t tokens = 0;
  for (const GroupSequence& g : paths) {
    sequences.push_back(&g.sequence);
    tokens += static_cast<int64_t>(g.sequence.tokens.size());
  }
  EXPECT_EQ(m->tokens, tokens);
  EXPECT_EQ(m->computed_tokens, PackTrees(sequences, true).stream.size());
  EXPECT_LT(m->computed_tokens, m->tokens);
}

}  // namespace
}  // namespace espalier
