#include "datasets/answers/find/plain_formulas.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

TEST(PlainFormulas, WhatOnlyAFormulaIsIsMarked) {
  EXPECT_EQ(MarkFormulas("Collecting terms, so f(x) = 3x^2 - 2."),
            "Collecting terms, so \\(f(x) = 3x^2 - 2\\).");
  EXPECT_EQ(MarkFormulas("They meet at (2, -1) and (0, 3)."),
            "They meet at \\((2, -1)\\) and \\((0, 3)\\).");
  EXPECT_EQ(MarkFormulas("the condition unpacks to -2 < x < 6."),
            "the condition unpacks to \\(-2 < x < 6\\).");
  EXPECT_EQ(MarkFormulas("the wheel rolls 12 \u03c0 feet"),
            "the wheel rolls \\(12 \u03c0\\) feet");
}

TEST(PlainFormulas, NumbersUnitsAndWordsStay) {
  for (const char* text :
       {"He is 10-20 years old.", "On 2024-05-06 there were 3/4 left.",
        "Gravity comes out to 9.8 m/s\u00b2.", "The 3-year plan costs $5.",
        "8 puppies / 20 puppies * 100% = 40%", "**bold text** - a remark",
        "x^2 + 1", "the x-axis and the 8th prime", "\\frac{1}{2} is one half",
        "the value of $x^2$ is y + 1"}) {
    EXPECT_EQ(MarkFormulas(text), "") << text;
  }
}

TEST(PlainFormulas, HostileTextsTakeNoTime) {
  for (const char* part : {"(", "(1,", "1+(", "|x", "sqrt ", "x = ", "2 x "}) {
    std::string text = "this is prose ";
    while (text.size() + 8 < kLongestMarked) text += part;
    const std::clock_t start = std::clock();
    MarkFormulas(text);
    // The real limit is a tenth of a second; sanitizers get ten times as much.
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC) << part;
  }
}

// Whether a sentence states the same formula as the gold.
TEST(PlainFormulas, SentencesSayTheirFormula) {
  const struct {
    const char *gold, *answer;
    bool equal;
  } kCases[] = {
      {"9\\pi", "A circle of radius three has area 9\u03c0.", true},
      {"2+\\sqrt{3}", "Rationalising, we end at 2 + \u221a3.", true},
      {"(1,2),(2,1)", "It has two solutions, namely (2, 1) and (1, 2).", true},
      {"(1,2),(2,1)", "It has two solutions, namely (2, 1) and (1, 3).", false},
      {"10", "The maximum is 10 at x = 3.", true},
      {"3", "The maximum is 10 at x = 3.", false},
      {"A", "I'd go with A or C.", false},
      {"25", "The answer is 24. Wait, I forgot one. Actually it's 25.", true},
      {"24", "The answer is 24. Wait, I forgot one. Actually it's 25.", false},
      {"1/2", "**Answer:** 1/2\n\nTo conclude, the chance is 1/3.", false},
      {"2/3", "Two thirds of the pizza was eaten.", true},
      {"[-1, 1]", "Its range is the closed interval from -1 to 1.", true},
      {"(-1, 1)", "Its range is the closed interval from -1 to 1.", false},
      {"3", "x = 3 is the only solution. The candidate x = -1 is extraneous.",
       true},
      {"yes", "Yes. No. Both are my answers.", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(GradeAnswer(c.gold, c.answer).equal, c.equal)
        << c.gold << " | " << c.answer;
  }
}

}  // namespace
}  // namespace espalier
