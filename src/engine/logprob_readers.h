// Which methods read log-probs of what the policy wrote. Behind a server that
// tells none they are 0, which such a method would take for certainty.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_ENGINE_LOGPROB_READERS_H_
#define ESPALIER_SRC_ENGINE_LOGPROB_READERS_H_

#include "search/algorithm.h"

namespace espalier {

// Log-probs of steps, with the options that `algorithm` has. A test runs every
// other method without log-probs and compares its choices
// (tests/tools/espalier_text_servers_program_test.py).
bool ReadsLogprobs(const SearchAlgorithm& algorithm);

// Those of the most likely tokens at each position.
bool ReadsLikelyTokens(const SearchAlgorithm& algorithm);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOGPROB_READERS_H_
