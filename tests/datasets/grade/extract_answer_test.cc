#include "datasets/grade/extract_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(ExtractAnswer, LastBoxWins) {
  EXPECT_EQ(ExtractAnswer("\\boxed{1}. Checking again, we see that this was "
                          "wrong, so it is \\boxed{\\frac{1}{2}}.")
                .text,
            "\\frac{1}{2}");
  EXPECT_EQ(ExtractAnswer("\\boxed{1} and \\boxed{2}").text, "1 , 2");
  EXPECT_EQ(ExtractAnswer("$$\\boxed{\\{1, 2\\}}$$").text, "\\{1, 2\\}");
}

TEST(ExtractAnswer, LaterPhraseBeatsABox) {
  EXPECT_EQ(ExtractAnswer("\\boxed{255} So he has more. Final Answer: The "
                          "final answer is $10455$. I hope it is correct.")
                .text,
            "10455");
  EXPECT_EQ(ExtractAnswer("Final Answer: \\boxed{3}").text, "3");
  EXPECT_EQ(ExtractAnswer("He pays 3 * 6 = 18.\n#### 18").text, "18");
}

TEST(ExtractAnswer, AnswerIsAndFormulas) {
  EXPECT_EQ(ExtractAnswer("The answer is 42. Good.").text, "42");
  EXPECT_EQ(ExtractAnswer("Answer: **7**").text, "7");
  EXPECT_EQ(ExtractAnswer("With $y = 2$ we get $x = 5$.").text, "x = 5");
  EXPECT_EQ(ExtractAnswer("They are $1$, $2$ and $3$.").text, "1 , 2 , 3");
  EXPECT_EQ(ExtractAnswer("So \\[ x = 4 \\]").text, "x = 4");
}

TEST(ExtractAnswer, ThoughtsDoNotCount) {
  EXPECT_EQ(ExtractAnswer("<think>\\boxed{1}</think>It is \\boxed{2}").text,
            "2");
  EXPECT_EQ(ExtractAnswer("<think>\\boxed{1}</think>").text, "1");
}

TEST(ExtractAnswer, LastFencedLine) {
  EXPECT_EQ(ExtractAnswer("It prints\n```\n12\n```\n").text, "12");
}

TEST(ExtractAnswer, PlainTextStaysAsItIs) {
  const Extracted whole = ExtractAnswer(" \\frac{1}{2} ");
  EXPECT_EQ(whole.text, "\\frac{1}{2}");
  EXPECT_FALSE(whole.cut);
}

TEST(LastNumberOf, ANumberIsNoPartOfAWord) {
  EXPECT_EQ(LastNumberOf("AZYUK2A"), std::nullopt);
  EXPECT_EQ(LastNumberOf("3 plums cost $1,234.50 now"), "1,234.50");
  EXPECT_EQ(LastNumberOf("a gain of 28% in all"), "28%");
  EXPECT_EQ(LastNumberOf("it falls to -5 at night"), "-5");
  EXPECT_EQ(LastNumberOf("between 3-5"), "5");
  EXPECT_EQ(LastNumberOf("no number"), std::nullopt);
}

TEST(StripDelimiters, SeveralLayers) {
  EXPECT_EQ(StripDelimiters(" $$ \\(x\\) $$. "), "x");
  EXPECT_EQ(StripDelimiters("**5**"), "5");
  EXPECT_EQ(StripDelimiters("$5 and $6"), "5 and 6");
  EXPECT_EQ(StripDelimiters("0.333..."), "0.333...");
}

}  // namespace
}  // namespace espalier
