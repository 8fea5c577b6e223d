// orpo: imitation and an odds ratio, without a reference (Hong et al. 2024).
//
//   L = -m+ - lambda ln sigmoid(o+ - o-),   o = m - ln(1 - e^m)
//
// with m the mean log-prob of a sequence's tokens that count, e^m taken as its
// likelihood and o as its log odds; the mean over pairs.
#include <cmath>

#include "src/learn/objective.h"

namespace espalier {
namespace {

struct OrpoOptions {
  float lambda = 0.1f;
  void Visit(OptionVisitor& v) {
    v.Real("lambda", &lambda, 0, 100, "weight of the odds ratio loss");
  }
};

struct MeanLogprob {
  double weight = 0;
  double mean = 0;
  double log_odds = 0;
  double slope = 0;  // d log odds / d mean
};

MeanLogprob Measure(const GroupOutput& out) {
  MeanLogprob m;
  const TrainSequence& s = out.given->sequence;
  for (size_t t = 1; t < s.tokens.size(); ++t) {
    const auto w = static_cast<double>(s.lm_weight[t]);
    m.weight += w;
    m.mean += w * static_cast<double>(out.logprobs[t]);
  }
  m.mean /= std::fmax(m.weight, 1e-12);
  // A sequence of probability 1 has infinite odds, so p is clamped to 1 - 1e-6.
  const double p = std::fmin(std::exp(m.mean), 1 - 1e-6);
  m.log_odds = std::log(p) - std::log1p(-p);
  m.slope = p < 1 - 1e-6 ? 1 / (1 - p) : 0;
  return m;
}

class Orpo : public Objective {
 public:
  explicit Orpo(const OrpoOptions& options) : options_(options) {}
  std::string_view name() const override { return "orpo"; }
  int group_size() const override { return 2; }
  bool needs_reference() const override { return false; }
  double Count(const SequenceGroup&) const override { return 1; }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    const auto lambda = static_cast<double>(options_.lambda);
    const MeanLogprob good = Measure(group[0]), bad = Measure(group[1]);
    const double z = good.log_odds - bad.log_odds;
    sums.loss += -good.mean - lambda * LogSigmoid(z);
    sums.right += z > 0;
    ++sums.groups;
    const double pull = -lambda * Sigmoid(-z);  // d loss / d z
    Spread(group[0], -1 + pull * good.slope, good.weight, gradients[0], sums);
    Spread(group[1], -pull * bad.slope, bad.weight, gradients[1], sums);
  }

 private:
  // Spreads a derivative by the mean over its tokens.
  static void Spread(const GroupOutput& out, double by_mean, double weight,
                     GroupGradient& gradient, ObjectiveSums& sums) {
    const TrainSequence& s = out.given->sequence;
    for (size_t t = 1; t < s.tokens.size(); ++t) {
      gradient.logprobs[t] =
          static_cast<float>(by_mean * static_cast<double>(s.lm_weight[t]) /
                             std::fmax(weight, 1e-12));
      sums.tokens += s.lm_weight[t] != 0;
    }
  }

  const OrpoOptions options_;
};

std::unique_ptr<Objective> Make(const OrpoOptions& options) {
  return std::make_unique<Orpo>(options);
}

const RegisterObjective<OrpoOptions> kOrpo(
    "orpo", "imitation and an odds ratio over pairs", ExampleKind::kPairs,
    &Make);

}  // namespace
}  // namespace espalier
