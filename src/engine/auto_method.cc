#include "src/engine/auto_method.h"

namespace espalier {

std::string AutoMethod(int64_t, bool) {
  // With the shipped models no search is measurably ahead of one greedy
  // response at 4 times its tokens (docs/results), so the cheapest is taken.
  return "greedy";
}

}  // namespace espalier
