#include "datasets/answers/find/stated_number.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string Stated(std::string_view text) {
  const StatedNumber number = FindStatedNumber(text, false);
  return number.trust == Trust::kStated ? number.text : "";
}

TEST(StatedNumber, BehindAVerbOrASign) {
  EXPECT_EQ(Stated("The total is 1.5 hours."), "1.5");
  EXPECT_EQ(Stated("She makes 9 * 2 = $18"), "18");
  EXPECT_EQ(Stated("Total: 7"), "7");
  EXPECT_EQ(Stated("Each costs $6."), "6");
}

TEST(StatedNumber, TheOnlyOneOfASentence) {
  EXPECT_EQ(Stated("Altogether she sold 72 clips."), "72");
  EXPECT_EQ(Stated("Tom ran 17 miles."), "17");
}

TEST(StatedNumber, BoundsAndDenialsStateNone) {
  for (const std::string_view text :
       {"anything but 12", "from 1 to 12", "at most 5", "There are at most 5.",
        "more than 5 apples", "5 or more", "it lies between 3 and 4 or 5",
        "10 11 12", "The 2 of 5", "everything except 12", "12 is wrong"}) {
    EXPECT_EQ(FindStatedNumber(text, false).trust, Trust::kNone) << text;
  }
}

TEST(StatedNumber, PartsOfFormulasAreNone) {
  for (const std::string_view text :
       {"the result is 10^{2}", "so it is 2\u221a3", "it equals x + 5",
        "the area is 3\u03c0", "there are 5! ways", "it weighs 3x"}) {
    EXPECT_EQ(FindStatedNumber(text, false).trust, Trust::kNone) << text;
  }
}

TEST(StatedNumber, ListsAreCountedWhereTheirNumberIsClaimed) {
  const CountedList list =
      FindCountedList("So there are three cubes: 1, 8 and 27.");
  EXPECT_EQ(list.count, "3");
  EXPECT_EQ(list.items, "1, 8, 27");
  for (const std::string_view text :
       {"There are 3 cubes: 1 and 8", "There are not 2 cubes: 1 and 8",
        "It is false that there are 2 cubes: 1 and 8", "The cubes: 1 and 8",
        "There are 2 cubes: 1 and 8 are found."}) {
    EXPECT_EQ(FindCountedList(text).count, "") << text;
  }
}

TEST(StatedNumber, RemarksAreDoubtful) {
  EXPECT_EQ(FindStatedNumber("roughly 12", false).trust, Trust::kDoubtful);
  EXPECT_EQ(FindStatedNumber("5, not 7", false).trust, Trust::kDoubtful);
  EXPECT_EQ(FindStatedNumber("5, not 7", false).text, "5");
}

TEST(StatedNumber, SignsBesideItMakeItAnother) {
  for (const char* text : {">= 12", "<= 12", "12+", "12=", "12...", "12_x"}) {
    EXPECT_EQ(FindStatedNumber(text, true).trust, Trust::kNone) << text;
  }
  EXPECT_EQ(FindStatedNumber("12", true).trust, Trust::kStated);
}

}  // namespace
}  // namespace espalier
