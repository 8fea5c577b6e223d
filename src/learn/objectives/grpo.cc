// grpo: policy gradient by group advantages (Shao et al. 2024) with the
// token-level mean and the higher upper clip of DAPO (Yu et al. 2025).
//
//   L = -sum_t min(r_t A, clip(r_t, 1 - clip_low, 1 + clip_high) A) / tokens
//       + kl sum_t (e^{d_t} - d_t - 1) / tokens
//
// with r_t = p_t / old_t, d_t = ln ref_t - ln p_t (the k3 estimate of the
// divergence from the reference), and A the advantage of the response, or of
// the step with process rewards (ProcessRewards in
// src/trace/labels/examples.h). A response that judges itself (self_reward.h)
// adds that loss; it is no part of the policy gradient.
#include <cmath>

#include "src/learn/objective.h"

namespace espalier {
namespace {

struct GrpoOptions {
  float clip_low = 0.2f;
  float clip_high = 0.28f;
  float kl = 0;
  void Visit(OptionVisitor& v) {
    v.Real("clip_low", &clip_low, 0, 1,
           "probability ratios are clipped below at 1 - clip_low");
    v.Real("clip_high", &clip_high, 0, 100,
           "probability ratios are clipped above at 1 + clip_high");
    v.Real("kl", &kl, 0, 100, "weight of the divergence from the reference");
  }
};

class Grpo : public Objective {
 public:
  explicit Grpo(const GrpoOptions& options) : options_(options) {}
  std::string_view name() const override { return "grpo"; }
  int group_size() const override { return 0; }
  bool needs_reference() const override { return options_.kl > 0; }

  double Count(const SequenceGroup& group) const override {
    double count = 0;
    for (const GroupSequence& g : group) {
      for (size_t t = 1; t < End(g); ++t) {
        count += g.sequence.lm_weight[t] != 0;
      }
    }
    return count;
  }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    for (size_t k = 0; k < group.size(); ++k) {
      const GroupSequence& given = *group[k].given;
      for (size_t t = 1; t < End(given); ++t) {
        if (given.sequence.lm_weight[t] == 0) continue;
        ++sums.tokens;
        gradients[k].logprobs[t] = static_cast<float>(
            Token(given, static_cast<double>(group[k].logprobs[t]), t, sums));
      }
      if (given.self_reward) {
        gradients[k].logprobs.back() = static_cast<float>(
            Judge(*given.self_reward,
                  static_cast<double>(group[k].logprobs.back()), sums));
      }
    }
  }

 private:
  // Where the response ends.
  static size_t End(const GroupSequence& g) {
    return g.sequence.tokens.size() - (g.self_reward ? 1 : 0);
  }

  // As Token, of the token after the response by which the policy judges it.
  static double Judge(const SelfReward& of, double logprob,
                      ObjectiveSums& sums) {
    const double score = of.factor * (logprob - of.base);
    const double error = score - of.target;
    sums.loss += of.weight * error * error;
    ++sums.groups;
    sums.right += (score > 0.5) == (of.target > 0.5);
    return 2 * of.weight * error * of.factor;
  }

  // Adds the token's loss to `sums`; returns its derivative by the log-prob.
  double Token(const GroupSequence& given, double logprob, size_t t,
               ObjectiveSums& sums) const {
    const auto advantage = static_cast<double>(
        given.advantages.empty() ? given.advantage : given.advantages[t]);
    const double ratio =
        std::exp(logprob - static_cast<double>(given.old_logprobs[t]));
    const double low = 1 - static_cast<double>(options_.clip_low);
    const double high = 1 + static_cast<double>(options_.clip_high);
    const double clipped = std::fmin(std::fmax(ratio, low), high);
    double gradient = 0;
    if (ratio * advantage <= clipped * advantage) {
      sums.loss -= ratio * advantage;
      gradient = -ratio * advantage;
    } else {
      sums.loss -= clipped * advantage;
      ++sums.clipped;
    }
    if (options_.kl > 0) {
      const double d = static_cast<double>(given.reference[t]) - logprob;
      const double k3 = std::exp(d) - d - 1;
      sums.kl += k3;
      sums.loss += static_cast<double>(options_.kl) * k3;
      gradient += static_cast<double>(options_.kl) * (1 - std::exp(d));
    }
    return gradient;
  }

  const GrpoOptions options_;
};

std::unique_ptr<Objective> Make(const GrpoOptions& options) {
  return std::make_unique<Grpo>(options);
}

const RegisterObjective<GrpoOptions> kGrpo(
    "grpo", "policy gradient by group advantages, clipped",
    ExampleKind::kGroups, &Make);

}  // namespace
}  // namespace espalier
