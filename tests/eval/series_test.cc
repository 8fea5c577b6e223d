#include "src/eval/series.h"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier {
namespace {

TEST(SeriesTest, FiguresLeaveOutWhatIsNotANumber) {
  const Series s{
      .name = "loss", .steps = {1, 2, 3, 4, 5}, .values = {NAN, 3, 1, 4, NAN}};
  const auto f = FiguresOf(s);
  ASSERT_TRUE(f.has_value());
  EXPECT_EQ(f->points, 3);
  EXPECT_EQ(f->first, 3);
  EXPECT_EQ(f->last, 4);
  EXPECT_EQ(f->min, 1);
  EXPECT_EQ(f->min_step, 3);
  EXPECT_EQ(f->max_step, 4);
  EXPECT_FALSE(FiguresOf({.name = "x", .steps = {1}, .values = {NAN}}));
  EXPECT_FALSE(FiguresOf({}));
}

TEST(SeriesTest, BinsAverageTheStepsNextToThem) {
  // Each step is assigned to the nearest of 0, 50 and 100.
  Series s{.name = "loss"};
  for (int i = 0; i <= 100; ++i) {
    s.steps.push_back(i);
    s.values.push_back(i == 60 ? NAN : i);
  }
  const auto bins = BinMeans(s, 0, 100, 3);
  ASSERT_EQ(bins.size(), 3u);
  EXPECT_EQ(bins[0].points, 25);  // 0 to 24
  EXPECT_DOUBLE_EQ(bins[0].value, 12);
  EXPECT_EQ(bins[1].points, 49);  // 25 to 74 without 60
  EXPECT_EQ(bins[1].missing, 1);
  EXPECT_DOUBLE_EQ(bins[1].value, (99 * 25 - 60) / 49.0);
  EXPECT_DOUBLE_EQ(bins[1].step, bins[1].value);
  EXPECT_DOUBLE_EQ(bins[2].value, 87.5);
}

TEST(SeriesTest, OneStepAndHugeValuesAreNoTrouble) {
  const auto one = BinMeans({.steps = {7}, .values = {3}}, 7, 7, 10);
  EXPECT_EQ(one[0].points, 1);
  EXPECT_EQ(one[0].step, 7);
  const auto huge =
      BinMeans({.steps = {1, 2}, .values = {1.5e308, 1.7e308}}, 1, 2, 1);
  EXPECT_DOUBLE_EQ(huge[0].value, 1.6e308);
}

TEST(SeriesTest, NumbersAreShort) {
  EXPECT_EQ(ShortNumber(0.28445243), "0.2845");
  EXPECT_EQ(ShortNumber(32338.97), "32339");
  EXPECT_EQ(ShortNumber(9999), "9999");
  EXPECT_EQ(ShortNumber(2.16076e-5), "2.161e-05");
  EXPECT_EQ(ShortNumber(-0.5), "-0.5");
  EXPECT_EQ(ShortNumber(1.7e308), "1.7e+308");
}

}  // namespace
}  // namespace espalier
