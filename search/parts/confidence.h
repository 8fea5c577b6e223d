// How confident a policy was in what it wrote, from the log-probs of its steps,
// and calibration of a score to a confidence.
//
//   StepConfidence(step)                exp(mean log p of its tokens)
//   PathConfidence(tree, end, kLowest)  that of its least confident step
//   Calibrate(.8, slope, offset)        sigmoid(slope * logit(.8) + offset)
//
// A step's confidence is the geometric mean of the probabilities of its sampled
// tokens, which is known for every step. DeepConf's own measure, from the k
// most likely tokens at each position, is in
// search/sampling/confidence_filter.h.
#ifndef ESPALIER_SEARCH_PARTS_CONFIDENCE_H_
#define ESPALIER_SEARCH_PARTS_CONFIDENCE_H_

#include <array>
#include <string_view>

#include "search/tree/tree.h"

namespace espalier {

// Geometric mean of the probabilities of the step's tokens, in (0, 1].
float StepConfidence(const Step& step);

enum class ConfidenceOf : uint8_t {
  kMean,    // all tokens of the response
  kLowest,  // its least confident step
  kBottom,  // mean of its least confident tenth of steps, at least one
  kTail,    // its last step
};
inline constexpr std::array<std::string_view, 4> kConfidenceOfNames = {
    "mean", "lowest", "bottom", "tail"};

// Confidence of the response that ends in `end`; 1 for the root.
float PathConfidence(const Tree& tree, NodeId end, ConfidenceOf of);

// ln(p / (1 - p)) with p clipped to [cut, 1 - cut]: a score of 0 or 1 is the
// reward model's rounding, not certainty.
double Logit(double p, double cut = 1e-6);

// Platt calibration: sigmoid(slope * logit(p) + offset).
double Calibrate(double p, double slope, double offset);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_CONFIDENCE_H_
