#include "src/engine/auto_method.h"

namespace espalier {

std::string AutoMethod(int64_t, bool has_reward) {
  // Beam is ahead at 4 and at 8 times greedy's tokens, and with less it returns
  // what greedy would: its draft. Without a judge nothing is ahead of greedy.
  return has_reward ? "beam" : "greedy";
}

}  // namespace espalier
