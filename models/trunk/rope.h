// Angles of rotary position embeddings (Su et al. 2021) with the scalings that
// checkpoints ask for.
//
//   Rope rope(config);
//   rope.Reach(512);
//   Rotate(head, rope.cos(17), rope.sin(17), config.head_dim / 2);
//
// Dimension i is turned with i + head_dim / 2, as Hugging Face has it. With
// "dynamic" scaling the token at position p is turned by the frequencies for a
// text of p + 1 tokens, which is what decoding token by token gives.
//
// Reach is not thread-safe; the rest is.
#ifndef ESPALIER_MODELS_TRUNK_ROPE_H_
#define ESPALIER_MODELS_TRUNK_ROPE_H_

#include <cstddef>
#include <vector>

#include "models/checkpoint/trunk_config.h"

namespace espalier {

class Rope {
 public:
  explicit Rope(const TrunkConfig& config);

  // Makes positions below `length` known.
  void Reach(int length);
  // [head_dim / 2], times the scaling's attention factor.
  const float* cos(int position) const { return &cos_[At(position)]; }
  const float* sin(int position) const { return &sin_[At(position)]; }

 private:
  size_t At(int position) const {
    return static_cast<size_t>(position) * frequencies_.size();
  }
  // Of a text of `length` tokens where they depend on it.
  std::vector<double> Dynamic(int length) const;

  int head_dim_;
  double base_;
  RopeScaling scaling_;
  double factor_ = 1;                // on cosines and sines
  std::vector<double> frequencies_;  // radians a position
  std::vector<float> cos_, sin_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_ROPE_H_
