#include "datasets/grade/plain_value.h"

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

}  // namespace
}  // namespace espalier
