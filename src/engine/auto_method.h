// The method that `--search auto` selects.
#ifndef ESPALIER_SRC_ENGINE_AUTO_METHOD_H_
#define ESPALIER_SRC_ENGINE_AUTO_METHOD_H_

#include <cstdint>
#include <string>

namespace espalier {

// The method that did best in docs/results/ at this budget of sampled tokens
// (0: unlimited), with and without a reward model.
std::string AutoMethod(int64_t max_tokens, bool has_reward);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_AUTO_METHOD_H_
