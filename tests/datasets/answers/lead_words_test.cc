#include "datasets/answers/find/lead_words.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(LeadWords, WhatAnAnswerIsToldApartFromGoes) {
  EXPECT_EQ(WithoutContrast("13, not 12"), "13");
  EXPECT_EQ(WithoutContrast("13 rather than 12"), "13");
  EXPECT_EQ(WithoutContrast("13, not counting Tim"), "13, not counting Tim");
  EXPECT_EQ(WithoutContrast("any number, not 13"), "any number, not 13");
}

TEST(LeadWords, AHeadingIsNoPartOfTheLineAbove) {
  EXPECT_TRUE(PartOfMore("the cube of the ", "answer is"));
  EXPECT_TRUE(PartOfMore("The cube of the\n", "answer is"));
  EXPECT_FALSE(PartOfMore("He has 8 screws left over\n", "#### 8"));
  EXPECT_FALSE(PartOfMore("It barks 400 times\n\n**", "Answer: 400**"));
}

TEST(LeadWords, AnotherNumberBehindAnAnswerHedgesIt) {
  EXPECT_TRUE(Hedged("10 but maybe 12"));
  EXPECT_TRUE(Hedged("$10$. Or $12$."));
  EXPECT_TRUE(Hedged(" (or perhaps 13)"));
  EXPECT_FALSE(Hedged("10. Alternatively, we count pairs."));
  EXPECT_FALSE(Hedged("10"));
}

TEST(LeadWords, TheLastSentenceGivesUp) {
  EXPECT_TRUE(GivesUp("The sum is 12. I cannot solve it."));
  EXPECT_FALSE(GivesUp("I do not know its name. The sum is 12."));
}

TEST(LeadWords, NothingIsToldApartInAnEmptyText) {
  EXPECT_FALSE(GivesUp(""));
  EXPECT_FALSE(BeginsNumber(""));
  EXPECT_EQ(WithoutContrast(""), "");
}

}  // namespace
}  // namespace espalier
