#include "datasets/answers/words/clean_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(WithPlainSigns, OneByteEach) {
  EXPECT_EQ(WithPlainSigns("Ann\u2019s \u22125"), "Ann's -5");
  EXPECT_EQ(WithPlainSigns("\u2018it\u02bcs\u2019"), "'it's'");
  EXPECT_EQ(WithPlainSigns("\u2026\xe2\x80"), "\u2026\xe2\x80");
}

TEST(WithPlainSigns, ColonsOfTimesAndRatios) {
  for (const char* text : {"4{:}30", "4\\!:\\!30", "4\\,:\\,30",
                           "4\\mathrel{:}30", "4\\colon 30"}) {
    EXPECT_EQ(WithPlainSigns(text), "4:30") << text;
  }
  EXPECT_EQ(WithPlainSigns("at $4{:}30$ PM"), "at 4:30 PM");
  EXPECT_EQ(WithPlainSigns("at $12:05$ a.m."), "at 12:05 a.m.");
  for (const char* text :
       {"f{:}30", "f\\colon A", "4\\colon", "4{:}", "{:}", "$4:30$ hours",
        "$3:2$ PM", "4:30$ PM", "$x4:30$ PM", "5$", "$"}) {
    EXPECT_EQ(WithPlainSigns(text), text);
  }
}

TEST(LineSkip, LengthsBehindARow) {
  EXPECT_EQ(LineSkip("[4pt] &= 3"), 5u);
  EXPECT_EQ(LineSkip(" [0.5em]x"), 8u);
  EXPECT_EQ(LineSkip("*[2 mm]"), 7u);
  EXPECT_EQ(LineSkip("[-1.5ex]"), 8u);
  for (const std::string_view text :
       {"", "*", "[", "[4", "[4pt", "[a,b]", "[4]", "[pt]", "x[4pt]"}) {
    EXPECT_EQ(LineSkip(text), 0u) << text;
  }
}

}  // namespace
}  // namespace espalier
