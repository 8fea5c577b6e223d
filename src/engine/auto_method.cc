#include "src/engine/auto_method.h"

namespace espalier {

std::string AutoMethod(int64_t max_tokens, bool has_reward) {
  if (!has_reward) return "majority";
  static_cast<void>(max_tokens);
  return "beam";
}

}  // namespace espalier
