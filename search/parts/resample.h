// Weights and draws of particle methods.
//
//   const auto w = Softmax({Logit(.9), Logit(.5), Logit(.1)}, 1);
//   // .9/.1 : 1 : .1/.9, normalised to sum to 1: .891, .099, .011
//   for (size_t i : Resample(w, 3, Resampling::kSystematic, random)) ...
#ifndef ESPALIER_SEARCH_PARTS_RESAMPLE_H_
#define ESPALIER_SEARCH_PARTS_RESAMPLE_H_

#include <array>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace espalier {

// exp(x_i / temperature) / sum_j exp(x_j / temperature). At temperature 0 the
// highest share all the weight. An x of -infinity has weight 0.
std::vector<double> Softmax(const std::vector<double>& x, double temperature);

enum class Resampling : uint8_t {
  kMultinomial,  // n independent draws
  kSystematic,   // one draw u; position (i + u) / n for i = 0 .. n-1
};
inline constexpr std::array<std::string_view, 2> kResamplingNames = {
    "multinomial", "systematic"};

// `n` indices drawn by `weights`, which sum to 1. Systematic draws are in
// order, and index i appears at least floor(n * w_i) and at most ceil(n * w_i)
// times.
std::vector<size_t> Resample(const std::vector<double>& weights, int n,
                             Resampling how, RandomStream& random);

// `n` different indices, drawn one after another by the weights of those left;
// fewer if fewer have a weight. Drawn in rounds: as many draws as are missing,
// by the weights of those not found in earlier rounds, without repeats (numpy's
// rule, which gives the same distribution).
std::vector<size_t> DrawDistinct(std::vector<double> weights, int n,
                                 RandomStream& random);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_RESAMPLE_H_
