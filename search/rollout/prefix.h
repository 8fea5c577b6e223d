// The prefix from which to restart a response.
#ifndef ESPALIER_SEARCH_ROLLOUT_PREFIX_H_
#define ESPALIER_SEARCH_ROLLOUT_PREFIX_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "search/tree/tree.h"

namespace espalier {

enum class PrefixRule : uint8_t {
  kSuccess,    // its first `fraction` of steps, rounded down
  kThreshold,  // before the first step with step_score < threshold; as kDrop if
               // there is none
  kDrop,       // before the step whose path_score falls most below that of the
               // step before it (1 at the root), ties to the first
};
inline constexpr std::array<std::string_view, 3> kPrefixRuleNames = {
    "success", "threshold", "drop"};

// The last node of the prefix of the response that ends in `end`, whose steps
// are all scored. Never `end` itself; the root is the empty prefix.
NodeId PrefixOf(const Tree& tree, NodeId end, PrefixRule rule, float fraction,
                float threshold);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_ROLLOUT_PREFIX_H_
