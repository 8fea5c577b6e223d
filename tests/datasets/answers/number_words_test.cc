#include "datasets/answers/words/number_words.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(NumberWords, WholeNumbersAndFractions) {
  EXPECT_EQ(NumberInWords("zero"), "0");
  EXPECT_EQ(NumberInWords("twenty one"), "21");
  EXPECT_EQ(NumberInWords("one hundred and five"), "105");
  EXPECT_EQ(NumberInWords("three hundred twenty one thousand five"), "321005");
  EXPECT_EQ(NumberInWords("two million"), "2000000");
  EXPECT_EQ(NumberInWords("minus seven"), "-7");
  EXPECT_EQ(NumberInWords("half"), "1/2");
  EXPECT_EQ(NumberInWords("three quarters"), "3/4");
  EXPECT_EQ(NumberInWords("two and half"), "(2+1/2)");
  EXPECT_EQ(NumberInWords("2.5 million"), "2.5*1000000");
  EXPECT_EQ(NumberInWords("1 out of 4"), "1/4");
}

TEST(NumberWords, OtherWordsAreNoNumbers) {
  EXPECT_EQ(NumberInWords(""), "");
  EXPECT_EQ(NumberInWords("third"), "");
  EXPECT_EQ(NumberInWords("seven apples"), "");
  EXPECT_EQ(NumberInWords("seven eight"), "");
  EXPECT_EQ(NumberInWords("twenty twelve"), "");
  EXPECT_EQ(NumberInWords("thousand million"), "");
  EXPECT_EQ(NumberInWords("and"), "");
}

TEST(NumberWords, PlacesInARow) {
  EXPECT_EQ(PlaceInWords("third"), "place 3");
  EXPECT_EQ(PlaceInWords("3rd"), "place 3");
  EXPECT_EQ(PlaceInWords("3"), "");
  EXPECT_EQ(PlaceInWords("thirds"), "");
}

TEST(NumberWords, OneNumberInASentence) {
  EXPECT_EQ(NumberWordIn("there are seven such sets"), "7");
  EXPECT_EQ(NumberWordIn("there are twenty one of them"), "21");
  EXPECT_EQ(NumberWordIn("there are two or three"), "");
  EXPECT_EQ(NumberWordIn("there is one"), "");
  EXPECT_EQ(NumberWordIn("there are none"), "");
}

TEST(NumberWords, PartInFront) {
  EXPECT_EQ(WithPartInDigits("two-thirds of the class"), "2/3 of the class");
  EXPECT_EQ(WithPartInDigits("Half an hour"), "1/2 hour");
  EXPECT_EQ(WithPartInDigits("three and a half cups"), "7/2 cups");
  EXPECT_EQ(WithPartInDigits("two thirds of twelve"), "");
  EXPECT_EQ(WithPartInDigits("two thirds of 12"), "");
  EXPECT_EQ(WithPartInDigits("half the circumference"), "");
  EXPECT_EQ(WithPartInDigits("twenty one cups"), "");
}

TEST(NumberWords, Ranges) {
  EXPECT_EQ(RangeInWords("all real numbers greater than or equal to 2"),
            "x \\ge 2");
  EXPECT_EQ(RangeInWords("x is at most -3"), "x \\le -3");
  EXPECT_EQ(RangeInWords("all positive real numbers"), "x > 0");
  EXPECT_EQ(RangeInWords("all numbers less than 5"), "x < 5");
  EXPECT_EQ(RangeInWords("all real numbers"), "");
  EXPECT_EQ(RangeInWords("positive integers"), "");
  EXPECT_EQ(RangeInWords("x is less than y and z"), "");
}

TEST(WithFirstInDigits, RestatedNumbers) {
  EXPECT_EQ(WithFirstInDigits("One half, or 50\\%"), "1/2, or 50\\%");
  EXPECT_EQ(WithFirstInDigits("Twelve, or 12"), "12, or 12");
  EXPECT_EQ(WithFirstInDigits("A quarter, or 25%"), "1/4, or 25%");
  for (const char* text :
       {"1/2, or 50%", "One half", "Red, or 50%", "One half, or more", ""}) {
    EXPECT_EQ(WithFirstInDigits(text), "") << text;
  }
}

}  // namespace
}  // namespace espalier
