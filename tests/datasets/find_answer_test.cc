#include "datasets/tasks/find_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

using Found = std::optional<std::string>;

TEST(FindAnswerTest, BoxesWithBracesInThem) {
  EXPECT_EQ(LastBoxed("\\boxed{42}"), Found("42"));
  EXPECT_EQ(LastBoxed("a \\boxed{1} b \\boxed{\\frac{1}{\\sqrt{2}}}."),
            Found("\\frac{1}{\\sqrt{2}}"));
  EXPECT_EQ(LastBoxed("\\boxed {7}"), Found("7"));
  EXPECT_EQ(LastBoxed("\\boxed{\\{1, 2\\}}"), Found("\\{1, 2\\}"));
  EXPECT_EQ(LastBoxed("\\boxed{\\left\\{ x \\right.}"),
            Found("\\left\\{ x \\right."));
  EXPECT_EQ(LastBoxed("\\boxed{}"), Found(""));
}

TEST(FindAnswerTest, ABoxThatNeverClosesIsNone) {
  EXPECT_EQ(LastBoxed("\\boxed{3"), std::nullopt);
  EXPECT_EQ(LastBoxed("\\boxed{3} or \\boxed{\\frac{1}{2"), Found("3"));
  EXPECT_EQ(LastBoxed("\\boxed"), std::nullopt);
  EXPECT_EQ(LastBoxed("\\boxed 5"), std::nullopt);
  EXPECT_EQ(LastBoxed("\\boxed{a\\"), std::nullopt);
  EXPECT_EQ(LastBoxed(""), std::nullopt);
}

TEST(FindAnswerTest, TheRestOfTheLine) {
  EXPECT_EQ(AfterLast("#### 12\n", "####"), Found("12"));
  EXPECT_EQ(AfterLast("answer is: 3\nthe answer is  4 m\nx", "answer is"),
            Found("4 m"));
  EXPECT_EQ(AfterLast("answer is\n5", "answer is"), std::nullopt);
}

TEST(FindAnswerTest, TheLastNumber) {
  EXPECT_EQ(LastNumber("3 plums and 4 pears, 7 in all."), Found("7"));
  EXPECT_EQ(LastNumber("It costs $1,234.50."), Found("1,234.50"));
  EXPECT_EQ(LastNumber("x = -3/4"), Found("-3/4"));
  EXPECT_EQ(LastNumber("the roots 1,2,3"), Found("3"));
  EXPECT_EQ(LastNumber("version 1.2.3"), Found("3"));
  EXPECT_EQ(LastNumber("no number"), std::nullopt);
  // More digits than a number may have are none.
  EXPECT_EQ(LastNumber("5 of " + std::string(100, '9')), Found("5"));
}

TEST(FindAnswerTest, GreatTextsTakeNoTime) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "\\boxed{1,1/";
  EXPECT_EQ(LastBoxed(text), std::nullopt);
  EXPECT_EQ(LastNumber(text + "x"), Found("1"));
}

}  // namespace
}  // namespace espalier
