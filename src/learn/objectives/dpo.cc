// dpo: preference pairs against a reference (Rafailov et al. 2023). With steps
// after a common prefix instead of responses it is step-DPO (Lai et al. 2024).
//
//   L = -ln sigmoid(beta ((S+ - R+) - (S- - R-)))
//
// with S the summed log-prob of a sequence's tokens that count, under the net,
// and R the same under the reference; the mean over pairs.
#include "src/learn/objective.h"

namespace espalier {
namespace {

struct DpoOptions {
  float beta = 0.1f;
  void Visit(OptionVisitor& v) {
    v.Real("beta", &beta, 1e-6f, 100,
           "strength of the penalty on divergence from the reference");
  }
};

// sum_t w_t (log p_t - log ref_t)
double LogRatio(const GroupOutput& out) {
  double sum = 0;
  const TrainSequence& s = out.given->sequence;
  for (size_t t = 1; t < s.tokens.size(); ++t) {
    sum += static_cast<double>(s.lm_weight[t]) *
           static_cast<double>(out.logprobs[t] - out.given->reference[t]);
  }
  return sum;
}

class Dpo : public Objective {
 public:
  explicit Dpo(const DpoOptions& options) : options_(options) {}
  std::string_view name() const override { return "dpo"; }
  int group_size() const override { return 2; }
  bool needs_reference() const override { return true; }
  double Count(const SequenceGroup&) const override { return 1; }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    const auto beta = static_cast<double>(options_.beta);
    const double z = beta * (LogRatio(group[0]) - LogRatio(group[1]));
    sums.loss -= LogSigmoid(z);
    sums.right += z > 0;
    ++sums.groups;
    const double slope = -beta * Sigmoid(-z);  // by the chosen sequence's sum
    for (int k = 0; k < 2; ++k) {
      const TrainSequence& s = group[static_cast<size_t>(k)].given->sequence;
      auto& gradient = gradients[static_cast<size_t>(k)].logprobs;
      for (size_t t = 1; t < s.tokens.size(); ++t) {
        gradient[t] = static_cast<float>((k == 0 ? slope : -slope) *
                                         static_cast<double>(s.lm_weight[t]));
        sums.tokens += s.lm_weight[t] != 0;
      }
    }
  }

 private:
  const DpoOptions options_;
};

std::unique_ptr<Objective> Make(const DpoOptions& options) {
  return std::make_unique<Dpo>(options);
}

const RegisterObjective<DpoOptions> kDpo("dpo",
                                         "preference pairs against a reference",
                                         ExampleKind::kPairs, &Make);

}  // namespace
}  // namespace espalier
