// Losses of the reward head's logits z against labels y in [0, 1], at the
// tokens that have one; the mean over labels of all levels.
//
//   bce   -y ln sigmoid(z) - (1 - y) ln sigmoid(-z)      (soft labels)
//   mse   (sigmoid(z) - y)^2                             (ReST-RL)
#include <cmath>

#include "src/learn/objective.h"

namespace espalier {
namespace {

struct NoOptions {
  void Visit(OptionVisitor&) {}
};

struct Term {
  double loss;
  double gradient;  // by z
};

Term Bce(double z, double y) {
  return {-y * LogSigmoid(z) - (1 - y) * LogSigmoid(-z), Sigmoid(z) - y};
}

Term Mse(double z, double y) {
  const double p = Sigmoid(z);
  return {(p - y) * (p - y), 2 * (p - y) * p * (1 - p)};
}

// Sums are taken in this order.
constexpr Level kOrder[] = {Level::kStep,    Level::kPath,    Level::kOutcome,
                            Level::kWindow2, Level::kWindow3, Level::kWindow4};

class RewardLoss : public Objective {
 public:
  RewardLoss(const char* name, Term (*term)(double, double))
      : name_(name), term_(term) {}
  std::string_view name() const override { return name_; }
  int group_size() const override { return 1; }
  bool needs_reference() const override { return false; }

  double Count(const SequenceGroup& group) const override {
    double count = 0;
    const TrainSequence& s = group[0].sequence;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      for (const Level level : kOrder) count += !std::isnan(s.Label(level, t));
    }
    return count;
  }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    const TrainSequence& s = group[0].given->sequence;
    int labels = 0, right = 0;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      for (const Level level : kOrder) {
        const float given = s.Label(level, t);
        if (std::isnan(given)) continue;
        const float logit = group[0].logits[level][t];
        ++labels;
        right += (logit > 0) == (given > 0.5f);
        Label(given, logit, gradients[0].logits[level][t], sums);
      }
    }
    ++sums.groups;
    // A group counts by its share of right labels, so `right` over groups is at
    // most 1.
    if (labels > 0) sums.right += static_cast<double>(right) / labels;
  }

 private:
  void Label(float label, float logit, float& gradient,
             ObjectiveSums& sums) const {
    const Term term =
        term_(static_cast<double>(logit), static_cast<double>(label));
    sums.loss += term.loss;
    gradient = static_cast<float>(term.gradient);
  }

  const char* name_;
  Term (*const term_)(double, double);
};

std::unique_ptr<Objective> MakeBce(const NoOptions&) {
  return std::make_unique<RewardLoss>("bce", &Bce);
}

std::unique_ptr<Objective> MakeMse(const NoOptions&) {
  return std::make_unique<RewardLoss>("mse", &Mse);
}

const RegisterObjective<NoOptions> kBce("bce",
                                        "soft labels of steps, cross entropy",
                                        ExampleKind::kSteps, &MakeBce);
const RegisterObjective<NoOptions> kMse("mse",
                                        "soft labels of steps, squared error",
                                        ExampleKind::kSteps, &MakeMse);

}  // namespace
}  // namespace espalier
