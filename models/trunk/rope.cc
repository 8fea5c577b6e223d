#include "models/trunk/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace espalier {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// base^(-2 i / rotary) for i < rotary / 2.
std::vector<double> Plain(double base, int rotary) {
  std::vector<double> out;
  for (int i = 0; i < rotary / 2; ++i) {
    out.push_back(std::pow(base, -2.0 * i / rotary));
  }
  return out;
}

// Long wavelengths are stretched by the factor, short ones kept, those between
// interpolated (as released with Llama 3.1).
void ScaleLlama3(const RopeScaling& s, std::vector<double>& frequencies) {
  for (double& f : frequencies) {
    const double turns = s.original_context * f / kTurn;
    const double mix = std::clamp(
        (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor),
        0.0, 1.0);
    f = (1 - mix) * f / s.factor + mix * f;
  }
}

// The dimension that makes `turns` rotations within the original context.
double YarnDimension(const RopeScaling& s, double base, int rotary,
                     double turns) {
  return rotary * std::log(s.original_context / (turns * kTurn)) /
         (2 * std::log(base));
}

// Peng et al. 2023, section 3.2: a ramp between the dimensions that rotate
// beta_fast and beta_slow times.
void ScaleYarn(const RopeScaling& s, double base, int rotary,
               std::vector<double>& frequencies) {
  const double low =
      std::max(0.0, std::floor(YarnDimension(s, base, rotary, s.beta_fast)));
  double high = std::min(
      rotary - 1.0, std::ceil(YarnDimension(s, base, rotary, s.beta_slow)));
  if (high == low) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp =
        std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= 1 - ramp + ramp / s.factor;
  }
}

}  // namespace

Rope::Rope(const TrunkConfig& config)
    : Rope(config.rotary(), config.rope_theta, config.rope) {}

Rope Rope::Local(const TrunkConfig& config) {
  return Rope(config.rotary(), config.local_rope_theta, {});
}

Rope::Rope(int rotary, double base, const RopeScaling& scaling)
    : rotary_(rotary),
      base_(base),
      scaling_(scaling),
      frequencies_(Plain(base, rotary)) {
  switch (scaling_.kind) {
    case RopeKind::kDefault:
    case RopeKind::kDynamic:
      break;
    case RopeKind::kLinear:
      for (double& f : frequencies_) f /= scaling_.factor;
      break;
    case RopeKind::kLlama3:
      ScaleLlama3(scaling_, frequencies_);
      break;
    case RopeKind::kYarn:
      ScaleYarn(scaling_, base_, rotary_, frequencies_);
      factor_ = scaling_.attention_factor > 0
                    ? scaling_.attention_factor
                    : 0.1 * std::log(std::max(1.0, scaling_.factor)) + 1;
      break;
    case RopeKind::kLongRope:
      for (size_t i = 0; i < frequencies_.size(); ++i) {
        frequencies_[i] /= scaling_.divisors[i];
      }
      factor_ = scaling_.attention_factor;
      break;
  }
}

std::vector<double> Rope::Dynamic(int length) const {
  const double stretch = scaling_.factor * length / scaling_.original_context -
                         (scaling_.factor - 1);
  return Plain(base_ * std::pow(stretch, rotary_ / (rotary_ - 2.0)), rotary_);
}

void Rope::Reach(int length) {
  const int known = frequencies_.empty()
                        ? length
                        : static_cast<int>(cos_.size() / frequencies_.size());
  if (length <= known) return;
  // Grow in steps, so that decoding does not recompute at every token.
  length = std::max(length, known + 64);
  for (int p = known; p < length; ++p) {
    const bool dynamic = scaling_.kind == RopeKind::kDynamic &&
                         p + 1 > scaling_.original_context;
    const std::vector<double> moved =
        dynamic ? Dynamic(p + 1) : std::vector<double>();
    for (const double f : dynamic ? moved : frequencies_) {
      cos_.push_back(static_cast<float>(factor_ * std::cos(p * f)));
      sin_.push_back(static_cast<float>(factor_ * std::sin(p * f)));
    }
  }
}

Ropes::Ropes(const TrunkConfig& config) : kinds_(config.layer_kinds) {
  if (config.learned_positions) return;
  rope_.emplace(config);
  for (const LayerKind& kind : kinds_) {
    if (kind.local && !local_) local_ = Rope::Local(config);
  }
}

void Ropes::Reach(int length) {
  if (rope_) rope_->Reach(length);
  if (local_) local_->Reach(length);
}

const Rope* Ropes::of(int layer) const {
  if (!rope_) return nullptr;
  const LayerKind kind =
      kinds_.empty() ? LayerKind() : kinds_[static_cast<size_t>(layer)];
  return !kind.rotated ? nullptr : kind.local ? &*local_ : &*rope_;
}

}  // namespace espalier
