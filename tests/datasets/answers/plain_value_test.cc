#include "datasets/answers/find/plain_value.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

std::string Aligned(const std::string& rows) {
  return "\\begin{aligned} " + rows + "\\end{aligned}";
}

TEST(LastRow, OfACalculationItsEnd) {
  EXPECT_EQ(LastRow(Aligned("S &= 1 + 2 \\\\ &= 3")), "3");
  EXPECT_EQ(LastRow(Aligned("S &= 1 + 2 \\\\[6pt] &= 3")), "3");
  EXPECT_EQ(LastRow(Aligned("x + 3 &= 7 \\\\ x &= 4")), "x = 4");
  EXPECT_EQ(LastRow(Aligned("2\\pi r &= 6\\pi \\\\ r &= 3")), "r = 3");
}

TEST(LastRow, SeveralUnknownsAreWhole) {
  for (const std::string rows :
       {"u + v &= 9 \\\\ v &= 5 \\\\ u &= 4", "u + v &= 9 \\\\ u &= 4",
        "x &= 1 \\\\ y &= 2", "\\mu + \\rho &= 3 \\\\ \\mu &= 1"}) {
    EXPECT_EQ(LastRow(Aligned(rows)), Aligned(rows));
  }
}

TEST(LastRow, OthersThatAreKnownOrGoneAreNone) {
  EXPECT_EQ(LastRow(Aligned("h &= 6 \\\\ 2h + w &= 20 \\\\ w &= 8")), "w = 8");
  EXPECT_EQ(LastRow(Aligned("d &= vt \\\\ 12 &= 3t \\\\ t &= 4")), "t = 4");
  EXPECT_EQ(LastRow(Aligned("\\text{Sum} + n &= 7 \\\\ n &= 2")), "n = 2");
}

}  // namespace
}  // namespace espalier
