#include "models/reward/reward_head.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/checkpoint/safetensors.h"

namespace espalier {
namespace {

std::vector<double> Softmax(absl::Span<const double> x) {
  const double highest = *std::max_element(x.begin(), x.end());
  std::vector<double> p;
  double sum = 0;
  for (const double value : x) {
    p.push_back(std::exp(value - highest));
    sum += p.back();
  }
  for (double& value : p) value /= sum;
  return p;
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> ApplyLayer(const RewardHead::Layer& layer,
                               const std::vector<double>& x) {
  const auto inputs = static_cast<size_t>(layer.inputs);
  ESP_CHECK(x.size() == inputs);
  std::vector<double> out(static_cast<size_t>(layer.outputs));
  for (size_t r = 0; r < out.size(); ++r) {
    double sum = layer.bias.empty() ? 0 : layer.bias[r];
    const float* row = layer.weight.data() + r * inputs;
    for (size_t i = 0; i < inputs; ++i) sum += x[i] * row[i];
    out[r] = sum;
  }
  return out;
}

// The layer whose one output is the mean of `layer`'s. The mean is linear, so
// it may be taken of the rows.
RewardHead::Layer MeanOutput(const RewardHead::Layer& layer) {
  const auto inputs = static_cast<size_t>(layer.inputs);
  RewardHead::Layer mean{.outputs = 1, .inputs = layer.inputs};
  for (size_t i = 0; i < inputs; ++i) {
    double sum = 0;
    for (size_t at = i; at < layer.weight.size(); at += inputs) {
      sum += layer.weight[at];
    }
    mean.weight.push_back(static_cast<float>(sum / layer.outputs));
  }
  if (!layer.bias.empty()) {
    double sum = 0;
    for (const float value : layer.bias) sum += value;
    mean.bias = {static_cast<float>(sum / layer.outputs)};
  }
  return mean;
}

}  // namespace

std::vector<double> RewardHead::Apply(absl::Span<const float> hidden) const {
  std::vector<double> x(hidden.begin(), hidden.end());
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) {
      for (double& value : x) value = std::max(0.0, value);
    }
    x = ApplyLayer(layers[i], x);
  }
  return x;
}

absl::StatusOr<RewardHead> ReadRewardHead(const RewardFormat& format,
                                          const RewardFolder& folder,
                                          int hidden_size) {
  ESP_RETURN_IF_ERROR(CheckTensors(format, folder));
  RewardHead head;
  int inputs = hidden_size;
  for (const RewardFormat::Layer& names : format.head) {
    const std::vector<int64_t>& shape = *folder.Shape(names.weight);
    if (shape[1] != inputs) {
      return absl::InvalidArgumentError(absl::StrCat(
          folder.path, ": tensor ", names.weight, ": expected [", shape[0],
          ", ", inputs, "] for this model, found ", ShapeText(shape),
          "; the folder's files do not belong together"));
    }
    RewardHead::Layer layer{.outputs = static_cast<int>(shape[0]),
                            .inputs = inputs};
    ESP_ASSIGN_OR_RETURN(layer.weight, folder.Floats(names.weight));
    if (!names.bias.empty() && folder.Shape(names.bias) != nullptr) {
      ESP_ASSIGN_OR_RETURN(layer.bias, folder.Floats(names.bias));
    }
    if (names.mean) layer = MeanOutput(layer);
    inputs = layer.outputs;
    head.layers.push_back(std::move(layer));
  }
  return head;
}

double RewardValue(const RewardFormat& format,
                   absl::Span<const double> outputs) {
  ESP_CHECK(static_cast<int>(outputs.size()) == format.labels);
  const auto label = static_cast<size_t>(format.label);
  if (format.log_prob != 0) {
    return std::clamp(format.log_prob * (outputs[0] - format.log_prob_base),
                      0.0, 1.0);
  }
  switch (format.squash) {
    case RewardSquash::kNone:
      return outputs[label];
    case RewardSquash::kSigmoid:
      return Logistic(outputs[label]);
    case RewardSquash::kSoftmax:
      return Softmax(outputs)[label];
    case RewardSquash::kDifference: {
      const std::vector<double> p = Softmax(outputs);
      return p[1] - p[0];
    }
    case RewardSquash::kSum: {
      const std::vector<double> p = Softmax(outputs);
      return p[1] + p[2];
    }
  }
  return 0;
}

double PathValue(const RewardFormat& format, absl::Span<const double> outputs) {
  ESP_CHECK(format.path_label >= 0);
  if (format.path_label == format.label) return RewardValue(format, outputs);
  const double output = outputs[static_cast<size_t>(format.path_label)];
  return format.squash == RewardSquash::kSigmoid ? Logistic(output) : output;
}

double SearchScore(const RewardFormat& format, double value) {
  switch (format.range) {
    case RewardRange::kProbability:
      return value;
    case RewardRange::kSigned:
      return (1 + value) / 2;
    case RewardRange::kReal:
      return Logistic(value);
  }
  return 0;
}

}  // namespace espalier
