// Angles of rotary position embeddings (Su et al. 2021) with the scalings that
// checkpoints use.
//
//   Ropes ropes(config);
//   ropes.Reach(512);
//   if (const Rope* rope = ropes.of(layer)) {
//     Rotate(head, rope->cos(17), rope->sin(17), config.rotary() / 2);
//   }
//
// Dimension i is rotated with i + rotary() / 2, as in Hugging Face. With
// "dynamic" scaling the token at position p uses the frequencies for a text of
// p + 1 tokens, as decoding token by token would.
//
// Reach is not thread-safe; the rest is.
#ifndef ESPALIER_MODELS_TRUNK_ROPE_H_
#define ESPALIER_MODELS_TRUNK_ROPE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "models/checkpoint/trunk_config.h"

namespace espalier {

class Rope {
 public:
  explicit Rope(const TrunkConfig& config);
  // Of LayerKind::local.
  static Rope Local(const TrunkConfig& config);

  // Computes the angles of positions below `length`.
  void Reach(int length);
  // [rotary / 2], times the scaling's attention factor.
  const float* cos(int position) const { return &cos_[At(position)]; }
  const float* sin(int position) const { return &sin_[At(position)]; }

 private:
  Rope(int rotary, double base, const RopeScaling& scaling);
  size_t At(int position) const {
    return static_cast<size_t>(position) * frequencies_.size();
  }
  // Frequencies for a text of `length` tokens (dynamic scaling).
  std::vector<double> Dynamic(int length) const;

  int rotary_;
  double base_;
  RopeScaling scaling_;
  double factor_ = 1;                // applied to cosines and sines
  std::vector<double> frequencies_;  // radians per position
  std::vector<float> cos_, sin_;
};

// The rotations of all layers of a network.
class Ropes {
 public:
  explicit Ropes(const TrunkConfig& config);

  void Reach(int length);
  // Null: the layer's queries and keys are not rotated.
  const Rope* of(int layer) const;

 private:
  std::vector<LayerKind> kinds_;  // as in TrunkConfig
  std::optional<Rope> rope_;      // none: positions are learned
  std::optional<Rope> local_;     // if a layer has it
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_ROPE_H_
