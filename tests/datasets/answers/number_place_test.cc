#include "datasets/answers/words/number_place.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(LastNumberOf, ANumberIsNoPartOfAWord) {
  EXPECT_EQ(LastNumberOf("AZYUK2A"), std::nullopt);
  EXPECT_EQ(LastNumberOf("3 plums cost $1,234.50 now"), "1,234.50");
  EXPECT_EQ(LastNumberOf("a gain of 28% in all"), "28%");
  EXPECT_EQ(LastNumberOf("it falls to -5 at night"), "-5");
  EXPECT_EQ(LastNumberOf("between 3-5"), "5");
  EXPECT_EQ(LastNumberOf("no number"), std::nullopt);
}

}  // namespace
}  // namespace espalier
