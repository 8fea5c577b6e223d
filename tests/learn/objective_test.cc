#include "src/learn/objective.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "src/learn/trainer.h"
#include "tests/learn/tiny_net.h"

namespace espalier {
namespace {

// A sequence of `n` random tokens; the first three are the prompt.
GroupSequence RandomSequence(RandomStream& rng, int n) {
  GroupSequence g{.advantage = 0.5f + rng.Uniform()};
  for (int t = 0; t < n; ++t) {
    g.sequence.tokens.push_back(rng.Range(0, 31));
    g.sequence.lm_weight.push_back(t < 3 ? 0 : 1);
    g.sequence.labels[Level::kStep].push_back(t % 4 == 3 ? rng.Uniform()
                                                         : kNone);
    g.sequence.labels[Level::kPath].push_back(t == n - 1 ? rng.Uniform()
                                                         : kNone);
    g.old_logprobs.push_back(-3 - rng.Uniform());
    g.reference.push_back(-3 - rng.Uniform());
  }
  return g;
}

SequenceGroup RandomGroup(RandomStream& rng, int size) {
  SequenceGroup group;
  for (int k = 0; k < (size > 0 ? size : 3); ++k) {
    group.push_back(RandomSequence(rng, rng.Range(6, 20)));
    if (k % 2 == 1) group.back().advantage *= -1;
    // Only grpo reads it.
    if (k % 3 == 1) {
      group.back().self_reward = {
          .factor = 0.3, .base = -5, .target = 1.0 - k % 2, .weight = 1.5};
    }
  }
  return group;
}

std::vector<GroupOutput> RandomOutputs(RandomStream& rng,
                                       const SequenceGroup& group) {
  std::vector<GroupOutput> outputs;
  for (const GroupSequence& g : group) {
    GroupOutput out{.given = &g, .logprobs = {0}};
    for (size_t t = 0; t < g.sequence.tokens.size(); ++t) {
      if (t > 0) out.logprobs.push_back(-2.5f - 2 * rng.Uniform());
      out.logits[Level::kStep].push_back(4 * rng.Uniform() - 2);
      out.logits[Level::kPath].push_back(4 * rng.Uniform() - 2);
    }
    outputs.push_back(std::move(out));
  }
  return outputs;
}

std::vector<GroupGradient> Zeros(const std::vector<GroupOutput>& outputs) {
  std::vector<GroupGradient> zeros;
  for (const GroupOutput& out : outputs) {
    const size_t n = out.logprobs.size();
    GroupGradient& zero = zeros.emplace_back();
    zero.logprobs.resize(n);
    for (std::vector<float>& column : zero.logits.of) column.resize(n);
  }
  return zeros;
}

double LossOf(const Objective& objective,
              const std::vector<GroupOutput>& outputs) {
  std::vector<GroupGradient> unused = Zeros(outputs);
  ObjectiveSums sums;
  objective.Evaluate(outputs, absl::MakeSpan(unused), sums);
  return sums.loss;
}

const char* const kSpecs[] = {
    "sft", "dpo:beta=0.5", "orpo:lambda=0.5", "grpo:kl=0.1", "grpo",
    "bce", "mse",          "pairwise",
};

TEST(ObjectiveTest, EveryRegisteredOneIsTestedHere) {
  std::vector<std::string> tested;
  for (const char* spec : kSpecs) {
    const auto objective = MakeObjective(spec);
    ASSERT_TRUE(objective.ok()) << objective.status();
    tested.emplace_back((*objective)->name());
  }
  for (const ObjectiveInfo* info : ListObjectives()) {
    EXPECT_NE(std::find(tested.begin(), tested.end(), info->name), tested.end())
        << info->name;
  }
}

TEST(ObjectiveTest, UnknownNamesAndOptionsNameTheNearest) {
  EXPECT_NE(MakeObjective("dpoo").status().message().find("\"dpo\""),
            std::string::npos);
  EXPECT_NE(MakeObjective("dpo:bta=1").status().message().find("beta"),
            std::string::npos);
  EXPECT_FALSE(MakeObjective("dpo:beta=-1").ok());
}

// The derivative that an objective returns, against differences of its loss.
TEST(ObjectiveTest, DerivativesAgreeWithFiniteDifferences) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (const char* spec : kSpecs) {
    const auto objective = MakeObjective(spec).value();
    for (int round = 0; round < 20; ++round) {
      const SequenceGroup group = RandomGroup(rng, objective->group_size());
      std::vector<GroupOutput> outputs = RandomOutputs(rng, group);
      std::vector<GroupGradient> gradients = Zeros(outputs);
      ObjectiveSums sums;
      objective->Evaluate(outputs, absl::MakeSpan(gradients), sums);
      const auto check = [&](float& value, float stated, bool kinked) {
        const float at = value;
        constexpr float kStep = 1.0f / 256;
        value = at + kStep;
        const double above = LossOf(*objective, outputs);
        value = at - kStep;
        const double below = LossOf(*objective, outputs);
        value = at;
        const double slope = (above - below) / (2.0 * kStep);
        if (kinked) return;
        EXPECT_NEAR(static_cast<double>(stated), slope,
                    2e-3 * (1 + std::abs(slope)))
            << spec;
      };
      for (size_t k = 0; k < outputs.size(); ++k) {
        GroupOutput& out = outputs[k];
        for (size_t t = 0; t < out.logprobs.size(); ++t) {
          // The loss has a kink where a ratio reaches its clip.
          const float ratio =
              std::exp(out.logprobs[t] - group[k].old_logprobs[t]);
          const bool kinked =
              objective->name() == "grpo" && (std::abs(ratio - 0.8f) < 0.02f ||
                                              std::abs(ratio - 1.28f) < 0.02f);
          if (t > 0) check(out.logprobs[t], gradients[k].logprobs[t], kinked);
          check(out.logits[Level::kStep][t],
                gradients[k].logits[Level::kStep][t], false);
          check(out.logits[Level::kPath][t],
                gradients[k].logits[Level::kPath][t], false);
        }
      }
    }
  }
}

// One counted token with a given log-prob in each sequence.
struct OneToken {
  SequenceGroup group;
  std::vector<GroupOutput> outputs;

  void Add(float logprob, float reference, float old, float advantage = 1) {
    GroupSequence g;
    g.sequence.tokens = {0, 1};
    g.sequence.lm_weight = {0, 1};
    g.sequence.labels[Level::kStep] = {kNone, kNone};
    g.sequence.labels[Level::kPath] = {kNone, 1};
    g.advantage = advantage;
    g.old_logprobs = {0, old};
    g.reference = {0, reference};
    group.push_back(g);
    GroupOutput& output = outputs.emplace_back();
    output.logprobs = {0, logprob};
    output.logits[Level::kStep] = output.logits[Level::kPath] = {0, 0};
  }
  ObjectiveSums Evaluate(const std::string& spec,
                         std::vector<GroupGradient>* gradients = nullptr) {
    for (size_t k = 0; k < group.size(); ++k) outputs[k].given = &group[k];
    std::vector<GroupGradient> own = Zeros(outputs);
    ObjectiveSums sums;
    MakeObjective(spec).value()->Evaluate(outputs, absl::MakeSpan(own), sums);
    if (gradients != nullptr) *gradients = own;
    return sums;
  }
};

TEST(ObjectiveTest, ValuesByHand) {
  OneToken dpo;  // ratios .5 and -.3: z = .1 * .8
  dpo.Add(-1.0f, -1.5f, 0);
  dpo.Add(-1.3f, -1.0f, 0);
  EXPECT_NEAR(dpo.Evaluate("dpo:beta=0.1").loss, 0.65394673, 1e-6);
  EXPECT_EQ(dpo.Evaluate("dpo").right, 1);

  OneToken orpo;  // p = 1/2 and 1/4: log odds 0 and -ln 3
  orpo.Add(std::log(0.5f), 0, 0);
  orpo.Add(std::log(0.25f), 0, 0);
  EXPECT_NEAR(orpo.Evaluate("orpo:lambda=0.1").loss,
              std::log(2) + 0.1 * std::log(4.0 / 3), 1e-6);

  std::vector<GroupGradient> gradients;
  OneToken up;  // ratio 1.5, advantage > 0: clipped at 1.28
  up.Add(std::log(1.5f) - 1, -1, -1, 1);
  const ObjectiveSums clipped = up.Evaluate("grpo", &gradients);
  EXPECT_NEAR(clipped.loss, -1.28, 1e-6);
  EXPECT_EQ(clipped.clipped, 1);
  EXPECT_EQ(gradients[0].logprobs[1], 0);
  OneToken down;  // ratio 1.5, advantage < 0: not clipped
  down.Add(std::log(1.5f) - 1, -1, -1, -1);
  EXPECT_NEAR(down.Evaluate("grpo", &gradients).loss, 1.5, 1e-6);
  EXPECT_NEAR(gradients[0].logprobs[1], 1.5, 1e-6);
  OneToken low;  // ratio .5, advantage < 0: clipped at .8
  low.Add(std::log(0.5f) - 1, -1, -1, -1);
  EXPECT_NEAR(low.Evaluate("grpo").loss, 0.8, 1e-6);
  OneToken step;  // a step's advantage in place of the response's
  step.Add(std::log(1.5f) - 1, -1, -1, 1);
  step.group[0].advantages = {0, -1};
  EXPECT_NEAR(step.Evaluate("grpo", &gradients).loss, 1.5, 1e-6);
  OneToken kl;  // reference twice as likely: k3 = 2 - ln 2 - 1
  kl.Add(-1, std::log(2.0f) - 1, -1, 0);
  EXPECT_NEAR(kl.Evaluate("grpo:kl=1").kl, 1 - std::log(2), 1e-6);
  EXPECT_NEAR(kl.Evaluate("grpo:kl=0.5").loss, 0.5 * (1 - std::log(2)), 1e-6);
  OneToken judged;  // .1 (-15 + 23) = .8 against 1: 2 x .04
  judged.Add(-15, 0, 0);
  judged.group[0].self_reward = {
      .factor = 0.1, .base = -23, .target = 1, .weight = 2};
  const ObjectiveSums judgement = judged.Evaluate("grpo", &gradients);
  EXPECT_NEAR(judgement.loss, 0.08, 1e-6);
  EXPECT_NEAR(gradients[0].logprobs[1], -0.08, 1e-6);
  EXPECT_EQ(judgement.tokens, 0);
  EXPECT_EQ(judgement.right, 1);
  EXPECT_EQ(MakeObjective("grpo").value()->Count(judged.group), 0);

  OneToken reward;  // z = 0 against y = 1
  reward.Add(-1, 0, 0);
  EXPECT_NEAR(reward.Evaluate("bce").loss, std::log(2), 1e-6);
  EXPECT_NEAR(reward.Evaluate("mse").loss, 0.25, 1e-6);
  OneToken pair;  // z 1 apart, weight 1/2
  pair.Add(-1, 0, 0, 0.5f);
  pair.Add(-1, 0, 0);
  pair.outputs[0].logits[Level::kPath][1] = 1;
  EXPECT_NEAR(pair.Evaluate("pairwise").loss, 0.5 * std::log1p(std::exp(-1.0)),
              1e-6);
}

std::vector<SequenceGroup> RandomGroups(const Objective& objective,
                                        uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<SequenceGroup> groups;
  for (int i = 0; i < 9; ++i) {
    groups.push_back(RandomGroup(rng, objective.group_size()));
  }
  return groups;
}

// End to end: the loss along a direction in weight space.
TEST(ObjectiveTest, GradientsOfWeightsAgreeWithFiniteDifferences) {
  for (const char* spec : kSpecs) {
    const auto objective = MakeObjective(spec).value();
    const auto net = TinyNet(net::Precision::kFp32, 7);
    Trainer trainer(*net, {.threads = 2, .micro_batch_tokens = 64});
    auto groups = RandomGroups(*objective, 3);
    if (objective->name() == "grpo") {
      // Ratios of about 1, away from the clip.
      for (SequenceGroup& group : groups) {
        for (GroupSequence& g : group) {
          g.old_logprobs =
              trainer.LogProbs(absl::MakeConstSpan(&g.sequence, 1)).value()[0];
        }
      }
    }
    double loss = 0;
    const auto gradient = trainer.Gradient(*objective, groups, &loss);
    ASSERT_TRUE(gradient.ok()) << spec << gradient.status();
    at::Tensor weights = net->weights();
    const at::Tensor before = weights.clone();
    const at::Tensor slope = torch::tensor(*gradient);
    // Along the gradient, and along another direction correlated with it.
    RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
    for (int round = 0; round < 2; ++round) {
      at::Tensor direction = slope / slope.norm();
      if (round == 1) {
        at::Tensor noise = at::zeros_like(direction);
        for (int64_t i = 0; i < noise.size(0); ++i) {
          if (before[i].item<float>() != 0) {
            noise.data_ptr<float>()[i] = static_cast<float>(rng.Normal());
          }
        }
        direction = direction + 0.5 * noise / noise.norm();
      }
      constexpr double kStep = 2e-3;
      double at_step[2];
      for (int side = 0; side < 2; ++side) {
        weights.copy_(before + (side == 0 ? -kStep : kStep) * direction);
        net->Refresh();
        ASSERT_TRUE(trainer.Gradient(*objective, groups, &at_step[side]).ok());
      }
      weights.copy_(before);
      net->Refresh();
      const double measured = (at_step[1] - at_step[0]) / (2 * kStep);
      const double stated = slope.dot(direction).item<double>();
      EXPECT_NEAR(stated, measured, 0.02 * std::abs(stated) + 1e-4) << spec;
      EXPECT_GT(std::abs(stated), 1e-3) << spec;
    }
  }
}

// Imitation through the objective is bit for bit the plain training step.
TEST(ObjectiveTest, SftIsTheTrainersOwnStep) {
  const auto objective = MakeObjective("sft").value();
  const auto a = TinyNet(net::Precision::kBf16, 7);
  const auto b = TinyNet(net::Precision::kBf16, 7);
  const TrainerOptions options{
      .reward_coef = 0, .threads = 2, .micro_batch_tokens = 64};
  Trainer plain(*a, options), general(*b, options);
  for (int step = 0; step < 4; ++step) {
    const auto groups = RandomGroups(*objective, static_cast<uint64_t>(step));
    std::vector<TrainSequence> batch;
    for (const SequenceGroup& group : groups) {
      batch.push_back(group[0].sequence);
    }
    const auto m = plain.Step(batch);
    const auto n = general.StepObjective(*objective, groups);
    ASSERT_TRUE(m.ok() && n.ok()) << n.status();
    EXPECT_NEAR(m->lm_loss, n->loss, 1e-5);
    EXPECT_NEAR(m->grad_norm, n->grad_norm, 1e-5 * m->grad_norm);
  }
  EXPECT_LT((a->weights() - b->weights()).abs().max().item<float>(), 1e-6f);
}

// Against LibTorch's softmax of the logits from a separate pass.
TEST(ObjectiveTest, EntropyIsThePolicysAtTheTokensThatCount) {
  for (const char* spec : {"sft", "dpo", "grpo"}) {
    const auto objective = MakeObjective(spec).value();
    auto groups = RandomGroups(*objective, 6);
    // Weights select the tokens that count; they do not scale their entropy.
    for (SequenceGroup& group : groups) {
      for (GroupSequence& g : group) {
        for (size_t t = 3; t < g.sequence.tokens.size(); t += 2) {
          g.sequence.lm_weight[t] = t % 3 == 0 ? 0 : 0.5f;
        }
      }
    }
    const auto net = TinyNet(net::Precision::kFp32, 7);
    // Rows of varying entropy: a uniform distribution's would be ln 32.
    net->weights().mul_(4);
    net->Refresh();
    double sum = 0, count = 0;
    for (const SequenceGroup& group : groups) {
      for (const GroupSequence& g : group) {
        net::Replica replica(*net, nullptr);
        net::PackedStream stream;
        stream.Add(g.sequence.tokens);
        at::AutoGradMode no_gradients(false);
        const at::Tensor p = torch::softmax(
            replica.Logits(replica.Hidden(stream)).to(torch::kDouble), 1);
        const at::Tensor entropy = -torch::xlogy(p, p).sum(1);
        for (size_t t = 1; t < g.sequence.tokens.size(); ++t) {
          if (g.sequence.lm_weight[t] == 0) continue;
          sum += entropy[static_cast<int64_t>(t) - 1].item<double>();
          ++count;
        }
      }
    }
    Trainer trainer(*net, {.threads = 2, .micro_batch_tokens = 64});
    const auto m = trainer.StepObjective(*objective, groups);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_NEAR(m->entropy, sum / count, 1e-5) << spec;
    EXPECT_GT(m->entropy, 0.1) << spec;
    EXPECT_LT(m->entropy, std::log(32) - 0.1) << spec;
  }
}

TEST(ObjectiveTest, ThreadsDoNotChangeTheResult) {
  for (const char* spec : kSpecs) {
    const auto objective = MakeObjective(spec).value();
    const auto groups = RandomGroups(*objective, 5);
    const auto a = TinyNet(net::Precision::kBf16, 7);
    const auto b = TinyNet(net::Precision::kBf16, 7);
    Trainer one(*a, {.threads = 1, .micro_batch_tokens = 64});
    Trainer many(*b, {.threads = 3, .micro_batch_tokens = 64});
    const auto by_one = one.StepObjective(*objective, groups);
    const auto by_many = many.StepObjective(*objective, groups);
    ASSERT_TRUE(by_one.ok() && by_many.ok());
    EXPECT_EQ(by_one->entropy, by_many->entropy) << spec;
    EXPECT_TRUE(at::equal(a->weights(), b->weights())) << spec;
  }
}

TEST(ObjectiveTest, PreferencesAreLearned) {
  for (const char* spec : {"dpo", "orpo:lambda=1", "pairwise"}) {
    const auto objective = MakeObjective(spec).value();
    const auto net = TinyNet(net::Precision::kBf16, 7);
    Trainer trainer(*net, {.learning_rate = 3e-3,
                           .warmup_steps = 1,
                           .total_steps = 60,
                           .threads = 2});
    auto groups = RandomGroups(*objective, 6);
    for (SequenceGroup& group : groups) {
      for (GroupSequence& g : group) {
        g.advantage = 1;
        g.reference =
            trainer.LogProbs(absl::MakeConstSpan(&g.sequence, 1)).value()[0];
      }
    }
    const auto first = trainer.StepObjective(*objective, groups);
    ASSERT_TRUE(first.ok()) << first.status();
    ObjectiveMetrics last;
    for (int i = 0; i < 59; ++i) {
      last = trainer.StepObjective(*objective, groups).value();
    }
    EXPECT_LT(last.loss, 0.7 * first->loss) << spec;
    EXPECT_EQ(last.right, 1) << spec;
  }
}

TEST(ObjectiveTest, GroupsThatDoNotSuitAreRefused) {
  const auto net = TinyNet(net::Precision::kBf16, 7);
  Trainer trainer(*net, {});
  RandomStream rng(StreamKey(8, 0, 0, Purpose::kTest));
  const auto refused = [&](const std::string& spec, SequenceGroup group,
                           const std::string& word) {
    const auto status =
        trainer.StepObjective(*MakeObjective(spec).value(), {group}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(word), std::string::npos) << status;
  };
  refused("dpo", RandomGroup(rng, 1), "expected 2");
  SequenceGroup pair = RandomGroup(rng, 2);
  pair[1].reference.clear();
  refused("dpo", pair, "reference");
  SequenceGroup drawn = RandomGroup(rng, 1);
  drawn[0].old_logprobs.clear();
  refused("grpo", drawn, "sampling policy");
  drawn[0].sequence.tokens[0] = 99;
  refused("sft", drawn, "vocabulary");
  EXPECT_FALSE(trainer.StepObjective(*MakeObjective("sft").value(), {}).ok());
}

}  // namespace
}  // namespace espalier
