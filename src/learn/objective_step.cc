// Steps by an objective (src/learn/objective.h): the part of Trainer that turns
// derivatives by log-probs and reward logits into the fused losses.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "src/learn/trainer.h"
#include "src/learn/tree_packer.h"

namespace espalier {
namespace {

constexpr float kNoLabel = std::numeric_limits<float>::quiet_NaN();

size_t Tokens(const SequenceGroup& group) {
  size_t tokens = 0;
  for (const GroupSequence& g : group) tokens += g.sequence.tokens.size();
  return tokens;
}

// Groups that share a micro-batch, and the number of rows they need.
struct Bundle {
  std::vector<size_t> members;
  size_t rows = 0;
};

// Puts groups with a common prefix together, at most `tokens` rows per bundle;
// without `share`, each group is its own bundle.
std::vector<Bundle> BundleGroups(absl::Span<const SequenceGroup> groups,
                                 size_t tokens, bool share) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto first = [&](size_t i) -> const std::vector<int32_t>& {
    return groups[i].front().sequence.tokens;
  };
  if (share) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return first(a) < first(b); });
  }
  std::vector<Bundle> out;
  const std::vector<int32_t>* before = nullptr;
  for (const size_t i : order) {
    const size_t common =
        share && before != nullptr ? CommonPrefix(*before, first(i)) : 0;
    // Sequences of one group also share a prefix.
    size_t rows = first(i).size();
    for (size_t k = 1; k < groups[i].size(); ++k) {
      const std::vector<int32_t>& next = groups[i][k].sequence.tokens;
      rows += next.size() - (share ? CommonPrefix(first(i), next) : 0);
    }
    if (common < kWorthSharing || out.back().rows + rows - common > tokens) {
      out.push_back({{i}, rows});
    } else {
      out.back().members.push_back(i);
      out.back().rows += rows - common;
    }
    before = &first(i);
  }
  return out;
}

// Packs whole bundles into micro-batches, as Pack does with sequences.
std::vector<std::vector<size_t>> PackGroups(
    absl::Span<const SequenceGroup> groups, const TrainerOptions& options) {
  const auto per_batch = static_cast<size_t>(options.micro_batch_tokens);
  std::vector<Bundle> bundles =
      BundleGroups(groups, per_batch, options.share_prefixes);
  size_t total = 0;
  for (const Bundle& bundle : bundles) total += bundle.rows;
  const auto multiple = static_cast<size_t>(options.partial_sums);
  size_t batches = (total + per_batch - 1) / per_batch;
  batches = (batches + multiple - 1) / multiple * multiple;
  batches = std::min(batches, bundles.size());
  std::stable_sort(
      bundles.begin(), bundles.end(),
      [](const Bundle& a, const Bundle& b) { return a.rows > b.rows; });
  std::vector<size_t> filled(batches, 0);
  std::vector<std::vector<size_t>> out(batches);
  for (const Bundle& bundle : bundles) {
    const auto at = static_cast<size_t>(
        std::min_element(filled.begin(), filled.end()) - filled.begin());
    filled[at] += bundle.rows;
    out[at].insert(out[at].end(), bundle.members.begin(), bundle.members.end());
  }
  return out;
}

// One micro-batch: its stream, the net's outputs, and the targets that have the
// objective's derivatives.
class GroupPass {
 public:
  GroupPass(absl::Span<const SequenceGroup> groups,
            const std::vector<size_t>& members, std::vector<Level> levels,
            int heads, bool share)
      : groups_(groups),
        members_(members),
        levels_(std::move(levels)),
        labels_(static_cast<size_t>(heads)),
        derivatives_(labels_.size()) {
    std::vector<const TrainSequence*> sequences;
    for (const size_t g : members) {
      for (const GroupSequence& s : groups[g]) {
        sequences.push_back(&s.sequence);
      }
    }
    trees_ = PackTrees(sequences, share);
    const auto size = static_cast<size_t>(stream().size());
    logprobs_.assign(size, 0);
    weight_.assign(size, 0);
    for (LevelColumns& head : labels_) {
      for (const Level level : levels_) head[level].assign(size, kNoLabel);
    }
    for (size_t s = 0; s < sequences.size(); ++s) {
      const TrainSequence& given = *sequences[s];
      for (size_t t = 0; t < given.tokens.size(); ++t) {
        const auto row = static_cast<size_t>(trees_.rows[s][t]);
        if (t > 0 && given.lm_weight[t] != 0) weight_[row] = 1;
        labelled_ |= given.Labelled(t);
      }
    }
  }

  // Evaluates the objective, given the policy's outputs at targets of weight 1
  // and the reward logits (undefined if none are needed).
  ObjectiveSums Evaluate(const Objective& objective,
                         const net::PolicyView& policy,
                         const at::Tensor& rewards) {
    ObjectiveSums sums;
    sums.rows = stream().size();
    sums.predicted = policy.count;
    for (int i = 0; i < policy.count; ++i) {
      logprobs_[static_cast<size_t>(policy.targets[i])] = policy.logprobs[i];
      sums.entropy += static_cast<double>(policy.entropies[i]);
    }
    weight_.assign(weight_.size(), 0);
    for (LevelColumns& head : derivatives_) {
      for (const Level level : levels_) head[level].assign(weight_.size(), 0);
    }
    // Without labels all heads are alike.
    const size_t heads = labelled_ ? labels_.size() : 1;
    size_t first = 0;  // sequence of the group
    for (const size_t g : members_) {
      for (size_t head = 0; head < heads; ++head) {
        EvaluateHead(objective, g, first, head, heads, rewards, sums);
      }
      first += groups_[g].size();
    }
    if (labelled_) Label(rewards);
    return sums;
  }

  net::LossTargets Targets(double count) const {
    const auto scale = static_cast<float>(1 / count);
    net::LossTargets targets{.rows = trees_.parents.data(),
                             .next = stream().tokens.data(),
                             .weight = weight_.data(),
                             .labels = {},
                             .lm_scale = scale,
                             .reward_scales = {}};
    size_t row = 0;
    for (const LevelColumns& head : labels_) {
      for (const Level level : levels_) {
        targets.labels[row] = head[level].data();
        targets.reward_scales[row++] = scale;
      }
    }
    return targets;
  }

  // True if any reward output is needed.
  bool labelled() const { return labelled_; }

  const net::PackedStream& stream() const { return trees_.stream; }

 private:
  // Adds group `g`, whose first sequence is number `first`, as one head sees
  // it: the loss is the mean over the heads, each weighted by how often its
  // bootstrap sample holds the group's problem.
  void EvaluateHead(const Objective& objective, size_t g, size_t first,
                    size_t head, size_t heads, const at::Tensor& rewards,
                    ObjectiveSums& sums) {
    std::vector<GroupOutput> outputs;
    std::vector<GroupGradient> gradients;
    for (size_t k = 0; k < groups_[g].size(); ++k) {
      const GroupSequence& given = groups_[g][k];
      outputs.push_back(Read(given, trees_.rows[first + k], head, rewards));
      const size_t n = given.sequence.tokens.size();
      GroupGradient& gradient = gradients.emplace_back();
      gradient.logprobs.resize(n);
      for (std::vector<float>& column : gradient.logits.of) column.resize(n);
    }
    if (heads == 1) {
      objective.Evaluate(outputs, absl::MakeSpan(gradients), sums);
    } else {
      ObjectiveSums one;
      objective.Evaluate(outputs, absl::MakeSpan(gradients), one);
      sums.Add(Scaled(one, Weight(g, head), 1 / static_cast<double>(heads)));
    }
    const float weight =
        heads == 1
            ? 1
            : static_cast<float>(Weight(g, head) / static_cast<double>(heads));
    for (size_t k = 0; k < outputs.size(); ++k) {
      Add(gradients[k], trees_.rows[first + k], head, weight);
    }
  }

  double Weight(size_t g, size_t head) const {
    const std::vector<int>& draws = groups_[g].front().draws;
    return draws.empty() ? 1 : draws[head];
  }

  // A head's sums: its loss counts `weight` times, and everything by its share.
  static ObjectiveSums Scaled(const ObjectiveSums& one, double weight,
                              double share) {
    return {.loss = one.loss * weight * share,
            .tokens = one.tokens * share,
            .kl = one.kl * share,
            .clipped = one.clipped * share,
            .right = one.right * share,
            .groups = one.groups * share};
  }

  GroupOutput Read(const GroupSequence& given, const std::vector<int32_t>& rows,
                   size_t head, const at::Tensor& rewards) const {
    GroupOutput out{.given = &given, .logprobs = {0}};
    for (size_t t = 1; t < rows.size(); ++t) {
      const bool counts = given.sequence.lm_weight[t] != 0;
      out.logprobs.push_back(counts ? logprobs_[static_cast<size_t>(rows[t])]
                                    : 0);
    }
    if (!rewards.defined()) return out;
    const float* z = rewards.data_ptr<float>();
    for (const int32_t row : rows) {
      const size_t at =
          (static_cast<size_t>(row) * labels_.size() + head) * levels_.size();
      for (size_t j = 0; j < levels_.size(); ++j) {
        out.logits[levels_[j]].push_back(z[at + j]);
      }
    }
    return out;
  }

  // Sequences that share a row share its outputs, so derivatives are added.
  void Add(const GroupGradient& gradient, const std::vector<int32_t>& rows,
           size_t head, float weight) {
    for (size_t t = 0; t < rows.size(); ++t) {
      const auto row = static_cast<size_t>(rows[t]);
      if (t > 0) weight_[row] -= weight * gradient.logprobs[t];
      if (!labelled_) continue;
      for (const Level level : levels_) {
        derivatives_[head][level][row] += weight * gradient.logits[level][t];
      }
    }
  }

  // Labels that give the derivatives by reward logits.
  void Label(const at::Tensor& rewards) {
    const float* z = rewards.data_ptr<float>();
    const auto label = [](float logit, float derivative) {
      return derivative == 0
                 ? kNoLabel
                 : static_cast<float>(Sigmoid(static_cast<double>(logit)) -
                                      static_cast<double>(derivative));
    };
    for (size_t row = 0; row < weight_.size(); ++row) {
      for (size_t head = 0; head < labels_.size(); ++head) {
        for (const Level level : levels_) {
          labels_[head][level][row] =
              label(*z++, derivatives_[head][level][row]);
        }
      }
    }
  }

  absl::Span<const SequenceGroup> groups_;
  const std::vector<size_t>& members_;
  const std::vector<Level> levels_;  // of the reward head's outputs
  bool labelled_ = false;
  TreeStream trees_;
  std::vector<float> logprobs_;  // [rows], of the token that each row holds
  std::vector<float> weight_;    // [rows], cross entropy of each row's token
  // By head: [rows] each, of levels_.
  std::vector<LevelColumns> labels_, derivatives_;
};

}  // namespace

absl::Status Trainer::CheckGroups(
    const Objective& objective, absl::Span<const SequenceGroup> groups) const {
  if (groups.empty()) {
    return absl::InvalidArgumentError(
        "an empty batch: expected at least one group of sequences");
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto error = [&](const std::string& what) {
      return absl::InvalidArgumentError(
          absl::StrCat("group ", i, " of the batch, objective ",
                       std::string(objective.name()), ": ", what));
    };
    const int size = objective.group_size();
    if (groups[i].empty() ||
        (size > 0 && static_cast<int>(groups[i].size()) != size)) {
      return error(
          absl::StrCat(groups[i].size(), " sequences, expected ",
                       size > 0 ? absl::StrCat(size) : "at least one"));
    }
    for (const GroupSequence& g : groups[i]) {
      const absl::Status status = Check(absl::MakeConstSpan(&g.sequence, 1));
      if (!status.ok()) return error(std::string(status.message()));
      const size_t n = g.sequence.tokens.size();
      if (objective.needs_reference() && g.reference.size() != n) {
        return error("it needs the reference's log-probs, one per token");
      }
      const auto heads = static_cast<size_t>(net_.config().reward_ensemble);
      if (!g.draws.empty() && g.draws.size() != heads) {
        return error(absl::StrCat(g.draws.size(),
                                  " weights of heads, expected ", heads));
      }
      if (!g.advantages.empty() && g.advantages.size() != n) {
        return error("expected one advantage per token");
      }
      if (!g.old_logprobs.empty() && g.old_logprobs.size() != n) {
        return error("expected one old log-prob per token");
      }
      if (objective.name() == "grpo" && g.old_logprobs.empty()) {
        return error("it needs the log-probs under the sampling policy");
      }
    }
  }
  return absl::OkStatus();
}

ObjectiveSums Trainer::RunGroups(const Objective& objective,
                                 absl::Span<const SequenceGroup> groups,
                                 double count, bool learn) {
  const auto batches = PackGroups(groups, options_);
  std::vector<ObjectiveSums> sums(batches.size());
  const auto flat = static_cast<int64_t>(net_.flat_size());
  const std::vector<Level> levels = RewardLevels(net_.config());
  executor_.ParallelFor(options_.partial_sums, 1, [&](int begin, int end) {
    at::set_num_threads(1);
    for (int part = begin; part < end; ++part) {
      std::unique_ptr<net::Replica> replica = TakeReplica();
      replica->set_grads(nullptr);
      if (learn) {
        float* grads = grads_.data_ptr<float>() + part * flat;
        std::memset(grads, 0, static_cast<size_t>(flat) * sizeof(float));
        replica->set_grads(grads);
      }
      at::AutoGradMode mode(learn);
      for (size_t i = static_cast<size_t>(part); i < batches.size();
           i += static_cast<size_t>(options_.partial_sums)) {
        GroupPass pass(groups, batches[i], levels,
                       net_.config().reward_ensemble, options_.share_prefixes);
        const at::Tensor hidden = replica->Hidden(pass.stream());
        const at::Tensor rewards =
            pass.labelled() ? replica->Rewards(hidden) : at::Tensor();
        const net::PolicyView policy =
            replica->Policy(hidden, pass.Targets(count));
        sums[i] = pass.Evaluate(objective, policy, rewards);
        if (!learn) continue;
        net::LossSums unused;
        replica->Loss(hidden, pass.Targets(count), &unused).backward();
      }
      GiveBack(std::move(replica));
    }
  });
  ObjectiveSums total;
  for (const ObjectiveSums& s : sums) total.Add(s);
  return total;
}

absl::StatusOr<ObjectiveMetrics> Trainer::MeasureGroups(
    const Objective& objective, absl::Span<const SequenceGroup> groups,
    bool learn) {
  ESP_RETURN_IF_ERROR(CheckGroups(objective, groups));
  double count = 0;
  ObjectiveMetrics m{.step = step_};
  for (const SequenceGroup& group : groups) {
    count += objective.Count(group);
    m.tokens += static_cast<int64_t>(Tokens(group));
  }
  count = std::max(count, 1e-12);
  const ObjectiveSums sums = RunGroups(objective, groups, count, learn);
  m.loss = sums.loss / count;
  m.computed_tokens = static_cast<int64_t>(sums.rows);
  m.entropy = sums.predicted > 0 ? sums.entropy / sums.predicted : 0;
  m.kl = sums.tokens > 0 ? sums.kl / sums.tokens : 0;
  m.clip_rate = sums.tokens > 0 ? sums.clipped / sums.tokens : 0;
  m.right = sums.groups > 0 ? sums.right / sums.groups : 0;
  return m;
}

absl::StatusOr<ObjectiveMetrics> Trainer::EvaluateObjective(
    const Objective& objective, absl::Span<const SequenceGroup> groups) {
  return MeasureGroups(objective, groups, /*learn=*/false);
}

absl::StatusOr<ObjectiveMetrics> Trainer::StepObjective(
    const Objective& objective, absl::Span<const SequenceGroup> groups) {
  const double start = Clock::Real().Seconds();
  ESP_ASSIGN_OR_RETURN(ObjectiveMetrics m,
                       MeasureGroups(objective, groups, /*learn=*/true));
  m.step = step_ + 1;
  m.grad_norm = GradNorm();
  if (!std::isfinite(m.loss) || !std::isfinite(m.grad_norm)) {
    return absl::InternalError(absl::StrFormat(
        "step %d: loss %g, gradient norm %g: expected finite numbers; lower "
        "the learning rate (%g) or check the batch",
        m.step, m.loss, m.grad_norm, RateAt(step_)));
  }
  m.learning_rate = RateAt(step_);
  Update(m.learning_rate, m.grad_norm);
  ++step_;
  m.seconds = Clock::Real().Seconds() - start;
  m.tokens_per_second = static_cast<double>(m.tokens) / m.seconds;
  return m;
}

absl::StatusOr<std::vector<float>> Trainer::Gradient(
    const Objective& objective, absl::Span<const SequenceGroup> groups,
    double* loss) {
  ESP_RETURN_IF_ERROR(CheckGroups(objective, groups));
  double count = 0;
  for (const SequenceGroup& group : groups) count += objective.Count(group);
  count = std::max(count, 1e-12);
  *loss = RunGroups(objective, groups, count, /*learn=*/true).loss / count;
  const at::Tensor sum = grads_.sum(0);
  const float* from = sum.data_ptr<float>();
  return std::vector<float>(from, from + net_.flat_size());
}

absl::StatusOr<std::vector<std::vector<float>>> Trainer::LogProbs(
    absl::Span<const TrainSequence> batch) {
  ESP_RETURN_IF_ERROR(Check(batch));
  std::vector<std::vector<float>> out(batch.size());
  executor_.ParallelFor(
      static_cast<int>(batch.size()), 8, [&](int begin, int end) {
        at::set_num_threads(1);
        at::AutoGradMode mode(false);
        std::unique_ptr<net::Replica> replica = TakeReplica();
        replica->set_grads(nullptr);
        for (int i = begin; i < end; ++i) {
          MicroBatch alone;
          alone.Add(batch[static_cast<size_t>(i)]);
          const net::PolicyView policy = replica->Policy(
              replica->Hidden(alone.stream),
              {.next = alone.next.data(), .weight = alone.weight.data()});
          std::vector<float>& logprobs = out[static_cast<size_t>(i)];
          logprobs.assign(alone.next.size(), 0);
          for (int k = 0; k < policy.count; ++k) {
            // Row t predicts token t + 1.
            logprobs[static_cast<size_t>(policy.targets[k]) + 1] =
                policy.logprobs[k];
          }
        }
        GiveBack(std::move(replica));
      });
  return out;
}

}  // namespace espalier
