#include "src/engine/auto_method.h"

namespace espalier {

std::string AutoMethod(int64_t, bool has_reward) {
  // On stories guided is ahead at 4 and at 8 times greedy's tokens, on
  // countdown some points behind voting; a budget for one response buys
  // greedy's, which its finishing stage writes. Without a judge majority is
  // ahead of greedy on countdown of 3 and 4 numbers and behind it on hard
  // stories: the cheaper one is taken.
  return has_reward ? "guided" : "greedy";
}

}  // namespace espalier
