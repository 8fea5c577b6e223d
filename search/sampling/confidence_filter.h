// A model's confidence in a response, from the confidences of its tokens, and
// which responses DeepConf lets vote (Fu et al. 2025, arXiv:2508.15260;
// search/sampling/deepconf.cc).
//
//   TokenGroups groups(2048);
//   groups.Add(tree.confidences(step));     // of each step, in order
//   groups.Confidence(ConfidenceOf::kBottom, 2048)
//
// A token's confidence is minus the mean ln p of the k most likely tokens at
// its position; higher is more confident. It is kept in thousandths, as the
// authors round it, so that sums are exact. Groups are all windows of `window`
// consecutive tokens.
#ifndef ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_
#define ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "search/parts/confidence.h"

namespace espalier {

// The tokens of one response. Thread-compatible.
class TokenGroups {
 public:
  // window >= 1
  explicit TokenGroups(int window) : window_(static_cast<size_t>(window)) {}

  // Appends the next tokens.
  void Add(absl::Span<const float> confidences);
  // Mean of the lowest complete group so far; infinity before there is one.
  double LowestGroup() const;
  // The same with unrounded confidences: the criterion for responses still
  // being generated.
  double LowestUnrounded() const;
  // Criterion and weight of an online response: LowestGroup, rounded to
  // thousandths like the group means of the authors' program; the mean of all
  // tokens if there is no complete group.
  double OnlineConfidence() const;
  // kMean: mean of all tokens; kTail: of the last `tail`; kLowest: of the
  // lowest group; kBottom: mean of the lowest tenth of the groups' means, at
  // least one. The mean of all tokens if there are fewer than a group, or than
  // `tail`; 0 if there are none.
  double Confidence(ConfidenceOf of, int tail) const;

 private:
  double Mean(size_t last) const;
  void AddUnrounded(float confidence);

  size_t window_;
  std::vector<int32_t> tokens_;  // thousandths
  int64_t sum_ = 0;              // of the last `window`
  int64_t lowest_ = 0;           // sum of the lowest group
  std::vector<float> unrounded_;
  double unrounded_sum_ = 0;  // of the last `window`
  double lowest_unrounded_ = 0;
};

// The value reached by the most confident `eta` percent of N >= 1 confidences:
// at (1 - eta / 100) (N - 1) of the sorted ones, interpolated linearly.
double ConfidenceThreshold(std::vector<double> confidences, double eta);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_
