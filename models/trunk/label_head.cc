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
  const size_t count = outputs.size();
  ESP_CHECK(count > 0 && count == static_cast<size_t>(labels));
  std::vector<float> out(static_cast<size_t>(n) * count);
  Apply(hidden, n, out.data());
  for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
    scores[r] = {};
    for (size_t i = 0; i < count; ++i) {
      const float score = 1 / (1 + std::exp(-out[r * count + i]));
      for (size_t l = 0; l < kLevels; ++l) {
        const auto level = static_cast<Level>(l);
        if (outputs[i].has(level)) scores[r][level] = score;
      }
    }
  }
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
