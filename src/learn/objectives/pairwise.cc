// pairwise: the better of two sequences scores higher (Bradley and Terry 1952;
// rStar-Math's process preference model).
//
//   L = -w ln sigmoid(z+ - z-)
//
// with z the path head's logit at the last token that has a path label, and w
// the chosen sequence's advantage, which is the pair's weight 1 / (n+ n-).
#include <cmath>

#include "base/check.h"
#include "src/learn/objective.h"

namespace espalier {
namespace {

struct NoPairOptions {
  void Visit(OptionVisitor&) {}
};

size_t LastLabel(const TrainSequence& s) {
  for (size_t t = s.tokens.size(); t-- > 0;) {
    if (!std::isnan(s.labels[Level::kPath][t])) return t;
  }
  ESP_CHECK(false && "a sequence of a pair without a path label");
  return 0;
}

class Pairwise : public Objective {
 public:
  std::string_view name() const override { return "pairwise"; }
  int group_size() const override { return 2; }
  bool needs_reference() const override { return false; }
  double Count(const SequenceGroup& group) const override {
    return static_cast<double>(group[0].advantage);
  }

  void Evaluate(absl::Span<const GroupOutput> group,
                absl::Span<GroupGradient> gradients,
                ObjectiveSums& sums) const override {
    const size_t good = LastLabel(group[0].given->sequence);
    const size_t bad = LastLabel(group[1].given->sequence);
    const double z = static_cast<double>(group[0].logits[Level::kPath][good] -
                                         group[1].logits[Level::kPath][bad]);
    const auto w = static_cast<double>(group[0].given->advantage);
    sums.loss -= w * LogSigmoid(z);
    sums.right += z > 0;
    ++sums.groups;
    gradients[0].logits[Level::kPath][good] =
        static_cast<float>(-w * Sigmoid(-z));
    gradients[1].logits[Level::kPath][bad] =
        static_cast<float>(w * Sigmoid(-z));
  }
};

std::unique_ptr<Objective> Make(const NoPairOptions&) {
  return std::make_unique<Pairwise>();
}

const RegisterObjective<NoPairOptions> kPairwise(
    "pairwise", "the better of two steps scores higher",
    ExampleKind::kStepPairs, &Make);

}  // namespace
}  // namespace espalier
