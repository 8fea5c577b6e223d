#include "datasets/answers/find/spoiled.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace espalier {
namespace {

struct Row {
  std::string_view text, word;
};

TEST(SpoiledBy, RemarksThatTakeTheNumberBack) {
  for (const Row& row : {
           Row{"7\\text{ (wrong)}", "wrong"},
           {"7 (incorrect)", "incorrect"},
           {"7 (not the answer)", "not the answer"},
           {"7 (should be 8)", "should be"},
           {"7\\text{ fails}", "fails"},
           {"x = 2 \\text{ excluded}", "excluded"},
           {"12 (just a guess)", "guess"},
           {"12 (upper bound)", "upper bound"},
       }) {
    EXPECT_NE(SpoiledBy(row.text), "") << row.text;
    EXPECT_NE(row.text.find(SpoiledBy(row.text)), std::string_view::npos)
        << row.text;
  }
}

TEST(SpoiledBy, OtherBases) {
  for (const char* text :
       {"20 (base 7)", "12 (in base 9)", "101\\text{ (binary)}", "12 (hex)"}) {
    EXPECT_NE(SpoiledBy(text), "") << text;
  }
  EXPECT_EQ(SpoiledBy("12 (base 10)"), "");
}

TEST(SpoiledBy, OtherScales) {
  for (const Row& row : {Row{"12 gross", "gross"},
                         {"12\\text{ lakh}", "lakh"},
                         {"12 thousandths", "thousandths"},
                         {"12 (thousands)", "thousands"},
                         {"12 (thousand)", "thousand"}}) {
    EXPECT_EQ(SpoiledBy(row.text), row.word) << row.text;
  }
  // A scale without brackets multiplies the number.
  EXPECT_EQ(SpoiledBy("12 thousand"), "");
}

TEST(SpoiledBy, UnitsAndHarmlessRemarks) {
  for (const char* text :
       {"7", "7\\text{ apples}", "7\\text{ (apples)}", "3 (double root)",
        "12 (in total)", "12 (twelve)", "0.5 (or 50%)", "\\$7 (each)",
        "12 (not including Tom)", "x = 2 (double root)", "", "wrong",
        "The answer 7 is wrong.", "19. (If it is wrong, tell me.)"}) {
    EXPECT_EQ(SpoiledBy(text), "") << text;
  }
}

TEST(SpoiledBy, WholeTextsAreNoRemark) {
  EXPECT_EQ(SpoiledBy("7 (wrong" + std::string(200, ' ') + ")"), "");
}

}  // namespace
}  // namespace espalier
