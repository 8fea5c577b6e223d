#include "datasets/answers/notation/trailing_unit.h"

#include <gtest/gtest.h>

#include "datasets/answers/value/units.h"

namespace espalier {
namespace {

TEST(TrailingUnit, CommandsAndPowersAreRead) {
  const auto metres = FindTrailingUnit("0.5 \\mu m");
  ASSERT_TRUE(metres.has_value());
  EXPECT_EQ(metres->number, "0.5");
  EXPECT_EQ(metres->unit, " μm");
  const auto ohms = FindTrailingUnit("10 \\text{ k}\\Omega");
  ASSERT_TRUE(ohms.has_value());
  EXPECT_EQ(ohms->unit, " kΩ");
  const auto hertz = FindTrailingUnit("1.5\\times10^6 Hz");
  ASSERT_TRUE(hertz.has_value());
  EXPECT_EQ(hertz->number, "1.5\\times10^6");
  EXPECT_TRUE(hertz->sure);
}

TEST(TrailingUnit, OtherTextsHaveNone) {
  EXPECT_FALSE(FindTrailingUnit("5").has_value());
  EXPECT_FALSE(FindTrailingUnit("5xy").has_value());
  EXPECT_FALSE(FindTrailingUnit("x m").has_value());
  EXPECT_FALSE(FindTrailingUnit("1/A").has_value());
  EXPECT_FALSE(FindTrailingUnit("5 + m").has_value());
  EXPECT_FALSE(FindTrailingUnit("").has_value());
}

TEST(TrailingUnit, UnitsHaveDimensions) {
  BigRational factor;
  EXPECT_TRUE(Convertible(ReadUnit("N m"), ReadUnit("J"), &factor));
  EXPECT_EQ(factor, BigRational(1));
  EXPECT_TRUE(Convertible(ReadUnit("MHz"), ReadUnit("kHz"), &factor));
  EXPECT_EQ(factor, BigRational(1000));
  EXPECT_TRUE(
      Convertible(ReadUnit("J/(mol·K)"), ReadUnit("J mol^-1 K^-1"), &factor));
  EXPECT_FALSE(Convertible(ReadUnit("m/s"), ReadUnit("m/s^2"), &factor));
  EXPECT_FALSE(
      Convertible(ReadUnit("m/s north"), ReadUnit("m/s south"), &factor));
  EXPECT_FALSE(ReadUnit("M").known);
}

}  // namespace
}  // namespace espalier
