// sft: imitation, the mean cross entropy over the tokens that count.
#include "src/learn/objective.h"

namespace espalier {
namespace {

struct SftOptions {
  void Visit(OptionVisitor&) {}
};

class Sft : public Objective {
 public:
  std::string_view name() const override { return "sft"; }
  int group_size() const override { return 1; }
  bool needs_reference() const override { return false; }

  double Count(const SequenceGroup& group) const override {
    double count = 0;
    const TrainSequence& s = group[0].sequence;
    for (size_t t = 1; t < s.tokens.size(); ++t) {
      count += static_cast<double>(s.lm_weight[t]);
    }
    return count;
  }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    const TrainSequence& s = group[0].given->sequence;
    for (size_t t = 1; t < s.tokens.size(); ++t) {
      const float w = s.lm_weight[t];
      sums.loss -= static_cast<double>(w * group[0].logprobs[t]);
      sums.tokens += static_cast<double>(w);
      gradients[0].logprobs[t] = -w;
    }
    ++sums.groups;
  }
};

std::unique_ptr<Objective> Make(const SftOptions&) {
  return std::make_unique<Sft>();
}

const RegisterObjective<SftOptions> kSft("sft", "imitate responses",
                                         ExampleKind::kResponses, &Make);

}  // namespace
}  // namespace espalier
