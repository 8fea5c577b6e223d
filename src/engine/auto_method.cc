#include "src/engine/auto_method.h"

namespace espalier {

std::string AutoMethod(int64_t, bool has_reward) {
  // On stories, guided is ahead at 4 and at 8 times greedy's tokens; on
  // countdown it is some points behind voting. With a budget for only one
  // response it gives greedy's response, written by its finishing stage.
  // Without a reward model, majority is ahead of greedy on countdown with 3 and
  // 4 numbers and behind it on hard stories, so we take the cheaper one.
  return has_reward ? "guided" : "greedy";
}

}  // namespace espalier
