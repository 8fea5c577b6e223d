#include "models/trunk/label_head.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace espalier {

void LabelHead::Apply(const float* hidden, int n, float* out) const {
  ESP_CHECK(labels > 0);
  const size_t count = static_cast<size_t>(labels);
  const size_t d = weight.size() / count;
  for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
    for (size_t label = 0; label < count; ++label) {
      double sum = bias.empty() ? 0 : bias[label];
      for (size_t i = 0; i < d; ++i) {
        sum += static_cast<double>(hidden[r * d + i]) * weight[label * d + i];
      }
      out[r * count + label] = static_cast<float>(sum);
    }
  }
}

void LabelHead::Rewards(const float* hidden, int n, StepScores* scores) const {
  const size_t count = static_cast<size_t>(labels);
  std::vector<float> out(static_cast<size_t>(n) * count);
  Apply(hidden, n, out.data());
  for (float& value : out) value = 1 / (1 + std::exp(-value));
  for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
    scores[r] = EnsembleScores(
        outputs, absl::MakeConstSpan(out.data() + r * count, count));
  }
}

StepScores EnsembleScores(absl::Span<const LevelSet> outputs,
                          absl::Span<const float> probabilities) {
  ESP_CHECK(!outputs.empty() && !probabilities.empty() &&
            probabilities.size() % outputs.size() == 0);
  const size_t heads = probabilities.size() / outputs.size();
  const auto number = static_cast<double>(heads);
  StepScores scores;
  for (size_t i = 0; i < outputs.size(); ++i) {
    double mean = 0, squares = 0;
    for (size_t k = 0; k < heads; ++k) {
      mean += static_cast<double>(probabilities[k * outputs.size() + i]);
    }
    mean /= number;
    for (size_t k = 0; k < heads; ++k) {
      const double apart =
          static_cast<double>(probabilities[k * outputs.size() + i]) - mean;
      squares += apart * apart;
    }
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      if (!outputs[i].has(level)) continue;
      scores[level] = static_cast<float>(mean);
      scores.spread_of(level) = static_cast<float>(std::sqrt(squares / number));
    }
  }
  return scores;
}

LabelHead ReadLabelHead(const TensorSource& source) {
  const auto read = [&](TensorRole part) {
    const TensorShape shape = ShapeOf(source.config(), part);
    std::vector<float> out(static_cast<size_t>(shape.rows * shape.columns));
    if (!out.empty()) source.Read(part, 0, 0, shape.rows, out.data());
    return out;
  };
  LabelHead head;
  head.labels =
      static_cast<int>(ShapeOf(source.config(), TensorRole::kHead).rows);
  if (source.config().reward_head) {
    head.outputs = source.config().reward_outputs;
  }
  head.weight = read(TensorRole::kHead);
  head.bias = read(TensorRole::kHeadBias);
  return head;
}

}  // namespace espalier
