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

TEST(Rejected, ResultsBehindWhatTheyFollowFrom) {
  const char* equal[][2] = {
      {"8\\pi",
       "It is $2\\pi r$ with r = 4, which gives a length of 8π units."},
      {"8", "It is $2r$, which gives a length of 8."},
      {"116", "So $m+n = 1+115$ which gives us the final answer of 116."},
      {"8", "Adding gives a final answer of 8."},
      {"8", "We arrive at an answer of $8$."},
      {"\\frac{\\pi}{6}", "Since sin θ = 1/2 and θ is acute, θ = π/6."},
      {"\\frac{h}{2mv}",
       "Plugging $p=2mv$ into de Broglie's law, λ = h/(2mv)."},
      {"\\frac{\\pi}{6},\\frac{5\\pi}{6}",
       "In $[0,2\\pi)$ there are two places: x = 5π/6 and x = π/6."},
      {"(-\\infty, 1/2]", "It flips the sign.\n\n**Answer:** x ≤ 0.5"}};
  for (const auto& [gold, answer] : equal) {
    EXPECT_TRUE(Graded(gold, answer).equal) << answer;
  }
  const char* other[][2] = {
      {"8", "It is $2r$, which gives a length of 8, not 9 or 10."},
      {"8", "She does not get a final answer of 8."},
      {"2", "Since a = 1, b = 2, c = 3."},
      {"0.5", "Answer: x ≤ 0.5"},
      {"8", "Tom gets an answer of 8, but that is wrong."}};
  for (const auto& [gold, answer] : other) {
    EXPECT_FALSE(Graded(gold, answer).equal) << answer;
  }
}

TEST(Rejected, OneOfSeveralPartsIsNoAnswer) {
  EXPECT_FALSE(Graded("7", "(a) 5\n(b) 7").equal);
  EXPECT_FALSE(Graded("7", "a) 5\n\nb) 7").equal);
  EXPECT_FALSE(Graded("5", "(a) 5\n(b) 7").equal);
  EXPECT_TRUE(Graded("7", "a) is 5\nb) is 2\nSo the sum is 7.").equal);
  EXPECT_TRUE(Graded("7", "(a) 7").equal);
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
