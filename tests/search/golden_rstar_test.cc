// rStar's and rStar-Math's searches against what their own programs did, node
// by node.
#include <gtest/gtest.h>

#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Its random choices are the recorded ones: which of the unvisited steps.
TEST(GoldenRstarTest, ItsRolloutsAreThoseOfTheAuthorsProgram) {
  for (const GoldenRun& run : ReadGolden("rstar").runs) {
    ExpectSameTrace(run, RunGolden(run));
  }
}

}  // namespace
}  // namespace espalier
