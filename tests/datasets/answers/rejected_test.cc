#include "datasets/answers/find/rejected.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

GradeVerdict Graded(const std::string& gold, const std::string& answer) {
  return GradeAnswer(gold, answer);
}

TEST(Rejected, AlternativesBehindTheAnswerAreLeftOut) {
  EXPECT_EQ(WithoutRejected("So it is 6 rather than 5."), "So it is 6.");
  EXPECT_EQ(WithoutRejected("We get $6$ instead of $5$, as shown."),
            "We get $6$, as shown.");
  EXPECT_EQ(WithoutRejected("So $f(2) = \\boxed{-7}$ and not $7$."),
            "So $f(2) = \\boxed{-7}$.");
  EXPECT_EQ(WithoutRejected("I pick (B) 3 rather than (A) 2."),
            "I pick (B) 3.");
}

TEST(Rejected, ADenialBeforeTheAnswerIsLeftOut) {
  EXPECT_EQ(WithoutRejected("The answer isn't A; it's C."), "it's C.");
  EXPECT_EQ(WithoutRejected("First 2. The answer is not 5, it is 7."),
            "it is 7.");
}

TEST(Rejected, WhatTheAnswerFollowsFromIsLeftOut) {
  EXPECT_EQ(WithoutRejected("Using $a = 2$ in it, $b = 7$."), "$b = 7$");
  EXPECT_EQ(WithoutRejected("From $v = 2$ we get 400 kelvin."),
            "We get 400 kelvin.");
  EXPECT_EQ(WithoutRejected("Using it, $b = 7$."), "");
  EXPECT_EQ(WithoutRejected("So $a = 2$, $b = 7$."), "");
}

TEST(Rejected, OtherTextsStayAsTheyAre) {
  for (const char* text :
       {"", "It is 6.", "It is not 5 but 6.", "Quantity rather than quality.",
        "x is rather than y", "It is 5, not 6 but 7.", "rather than 5",
        "5, not 7", "The set is {1, 2}, not empty.", "It is not A.",
        "The answer isn't known; it's open."}) {
    EXPECT_EQ(WithoutRejected(text), "") << text;
  }
}

TEST(Rejected, AnExplanationBehindAnAnswerIsLeftOut) {
  EXPECT_EQ(WithoutRejected("Answer: A\n\nExplanation: B can't be right."),
            "Answer: A");
  EXPECT_EQ(WithoutRejected("Answer: A\n\nExplanation: the answer is B."), "");
  EXPECT_EQ(WithoutRejected("Step 1\n\nExplanation: B can't be right."), "");
}

TEST(Rejected, NoVerdictRestsOnWhatIsRejected) {
  const char* rejected[][2] = {
      {"(A) \\frac{1}{2}",
       "A third is favorable, so I'd pick (B) $\\frac{1}{3}$ rather than (A) "
       "$\\frac12$."},
      {"\\frac12",
       "I would pick (B) $\\frac{1}{3}$ rather than (A) $\\frac12$."},
      {"5", "It is 6 rather than 5."},
      {"A", "The answer isn't A; it's C."},
      {"2", "Using $a = 2$ in the formula, $b = 7$."},
      {"5", "The correct value is 6 as opposed to 5."}};
  for (const auto& [gold, answer] : rejected) {
    EXPECT_FALSE(Graded(gold, answer).equal) << answer;
  }
  const char* meant[][2] = {
      {"C", "The answer isn't A, since the series diverges there; it's C."},
      {"C", "The answer is not A, it is C."},
      {"6", "It is 6 rather than 5."},
      {"-7", "So $f(-2) = \\boxed{-7}$ and not $7$."},
      {"5", "We get 5 instead of 6."},
      {"A", "Answer - A\n\nExplanation: options B, C and D can't be right."}};
  for (const auto& [gold, answer] : meant) {
    EXPECT_TRUE(Graded(gold, answer).equal) << answer;
  }
}

TEST(Rejected, NoVoteGoesToWhatIsRejected) {
  const char* votes[][2] = {
      {"The answer isn't A; it's C.", "C"},
      {"It is 6 rather than 5.", "6"},
      {"So $f(-2) = \\boxed{-7}$ and not $7$.", "-7"},
      {"Using $a = 2$ in the formula, $b = 7$.", "b = 7"},
      {"Answer: A\n\nExplanation: options B, C and D can't be right.", "A"}};
  for (const auto& [response, answer] : votes) {
    EXPECT_EQ(FindFinalAnswer(response), std::optional<std::string>(answer))
        << response;
  }
}

}  // namespace
}  // namespace espalier
