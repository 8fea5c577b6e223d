#include "datasets/answers/unit_beside.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(UnitBeside, StandsBehindTheNumber) {
  EXPECT_EQ(UnitBeside("It is \\boxed{20} km/h.", "20"), " km/h");
  EXPECT_EQ(UnitBeside("so $v = 20$ m/s", "20"), " m/s");
  EXPECT_EQ(UnitBeside("an area of 50 square miles", "50"), " square miles");
  EXPECT_EQ(UnitBeside("12 miles per hour at most", "12"), " miles per hour");
  EXPECT_EQ(UnitBeside("Area: $\\boxed{9}$ cm$^2$", "9"), " cm^2");
}

TEST(UnitBeside, MoneyIsASignInFront) {
  EXPECT_EQ(UnitBeside("It costs $5.", "5"), " dollars");
  EXPECT_EQ(UnitBeside("It costs $5 million.", "5"), "");
  EXPECT_EQ(UnitBeside("so $5$ are left", "5"), "");
}

TEST(UnitBeside, NoneWhereItIsNotWhole) {
  EXPECT_EQ(UnitBeside("She earns 5 dollars an hour.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5 in all.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 15 km.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5.5 km.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5 cats.", "5"), "");
  EXPECT_EQ(UnitBeside("5", ""), "");
}

}  // namespace
}  // namespace espalier
