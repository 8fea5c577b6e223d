#include "datasets/answers/words/times_dates.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(TimesDates, TimesOfDayHaveOneSpelling) {
  EXPECT_EQ(TimeOfDay("4 p.m."), "16:00");
  EXPECT_EQ(TimeOfDay("4:00 PM"), "16:00");
  EXPECT_EQ(TimeOfDay("16:00"), "16:00");
  EXPECT_EQ(TimeOfDay("6\\text{ p.m.}"), "18:00");
  EXPECT_EQ(TimeOfDay("12:00 AM"), "0:00");
  EXPECT_EQ(TimeOfDay("12:30 p.m."), "12:30");
  EXPECT_EQ(TimeOfDay("4:00"), "4:00 o'clock");
}

TEST(TimesDates, OtherNumbersAreNoTimes) {
  EXPECT_EQ(TimeOfDay("4"), "");
  EXPECT_EQ(TimeOfDay("3:4"), "");
  EXPECT_EQ(TimeOfDay("3:45"), "");
  EXPECT_EQ(TimeOfDay("13 pm"), "");
  EXPECT_EQ(TimeOfDay("4:75 pm"), "");
  EXPECT_EQ(TimeOfDay("24:00"), "");
  EXPECT_EQ(TimeOfDay(""), "");
}

TEST(TimesDates, DatesHaveOneSpelling) {
  EXPECT_EQ(DateOf("Dec. 25"), "december 25");
  EXPECT_EQ(DateOf("25th of December"), "december 25");
  EXPECT_EQ(DateOf("Sept. 1, 2020"), "september 1 2020");
  EXPECT_EQ(DateOf("2020-01-02"), "january 2 2020");
}

TEST(TimesDates, OtherTextsAreNoDates) {
  EXPECT_EQ(DateOf("2020-13-02"), "");
  EXPECT_EQ(DateOf("2020-1-2"), "");
  EXPECT_EQ(DateOf("December"), "");
  EXPECT_EQ(DateOf("December 32"), "");
  EXPECT_EQ(DateOf("5 - 3"), "");
}

}  // namespace
}  // namespace espalier
