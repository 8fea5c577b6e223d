#include "src/engine/logprob_readers.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace espalier {
namespace {

std::string ValueOf(const SearchAlgorithm& algorithm, std::string_view name) {
  for (const OptionInfo& option : algorithm.options()) {
    if (option.name == name) return option.value;
  }
  return "";
}

}  // namespace

bool ReadsLogprobs(const SearchAlgorithm& algorithm) {
  // Priors, confidences and likelihoods of steps.
  constexpr std::array<std::string_view, 7> kAlways = {
      "confidence", "deepconf", "frontier", "gumbel", "mur", "phi", "puct"};
  const std::string_view name = algorithm.name();
  if (std::find(kAlways.begin(), kAlways.end(), name) != kAlways.end()) {
    return true;
  }
  if (name == "best_first") return ValueOf(algorithm, "score") != "reward";
  if (name == "guided") return ValueOf(algorithm, "likelihood") != "0";
  if (name == "segments") {
    const std::string share = ValueOf(algorithm, "share");
    const std::string fallback = ValueOf(algorithm, "fallback");
    return (share != "even" && share != "entropy") ||
           (fallback != "none" && fallback != "random" && fallback != "start");
  }
  return false;
}

bool ReadsLikelyTokens(const SearchAlgorithm& algorithm) {
  return algorithm.name() == "deepconf";
}

}  // namespace espalier
