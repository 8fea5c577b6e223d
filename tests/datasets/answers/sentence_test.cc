#include "datasets/answers/sentence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace espalier {
namespace {

bool Says(std::string_view text, std::string_view what) {
  const auto said = SaidInWords(text);
  return std::find(said.begin(), said.end(), what) != said.end();
}

TEST(Sentence, WhatStandsBehindTheVerb) {
  EXPECT_TRUE(Says("The function is odd.", "odd"));
  EXPECT_TRUE(Says("It is even. It will be Saturday.", "Saturday"));
  EXPECT_TRUE(Says("The graph is odd because f(-x) is -f(x).", "odd"));
  EXPECT_TRUE(Says("So it must be a **circle**.", "circle"));
  EXPECT_TRUE(Says("No, it is not.", "no"));
  EXPECT_TRUE(Says("The series converges.", "converges"));
}

TEST(Sentence, DeniedIsNotSaid) {
  EXPECT_FALSE(Says("It is not true that the function is odd.", "odd"));
  EXPECT_FALSE(Says("The series never converges.", "converges"));
  EXPECT_FALSE(Says("It is odd. It is even.", "odd"));
}

TEST(Sentence, OneChoiceIsNamed) {
  EXPECT_EQ(ChoiceNamed("Hence option B is right."), 'B');
  EXPECT_EQ(ChoiceNamed("only (E) fits"), 'E');
  EXPECT_EQ(ChoiceNamed("A is the correct answer."), 'A');
  EXPECT_EQ(ChoiceNamed("(A) is false, (B) is true"), 0);
  EXPECT_EQ(ChoiceNamed("A cat sat on I"), 0);
}

}  // namespace
}  // namespace espalier
