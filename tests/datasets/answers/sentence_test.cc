#include "datasets/answers/find/sentence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace espalier {
namespace {

bool SaysSentence(std::string_view text, std::string_view what) {
  const auto said = SaidInWords(text);
  return std::find(said.begin(), said.end(), what) != said.end();
}

TEST(Sentence, WhatStandsBehindTheVerb) {
  EXPECT_TRUE(SaysSentence("The function is odd.", "odd"));
  EXPECT_TRUE(SaysSentence("It is even. It will be Saturday.", "Saturday"));
  EXPECT_TRUE(SaysSentence("The graph is odd because f(-x) is -f(x).", "odd"));
  EXPECT_TRUE(SaysSentence("So it must be a **circle**.", "circle"));
  EXPECT_TRUE(SaysSentence("No, it is not.", "no"));
  EXPECT_TRUE(SaysSentence("The series converges.", "converges"));
}

TEST(Sentence, DeniedIsNotSaid) {
  EXPECT_FALSE(SaysSentence("It is not true that the function is odd.", "odd"));
  EXPECT_FALSE(SaysSentence("The series never converges.", "converges"));
  EXPECT_FALSE(SaysSentence("It is odd. It is even.", "odd"));
}

TEST(Sentence, TurnedVerdictsAreNotSaid) {
  for (const char* text :
       {"Yes. Actually no.", "Yes. Actually, no.", "Yes, or rather no.",
        "Yes. I mean no.", "Yes. Or no.", "Yes. Actually, it is no.",
        "Yes. Wait, no!", "Yes. No."}) {
    EXPECT_FALSE(SaysSentence(text, "yes")) << text;
  }
  EXPECT_FALSE(SaysSentence("No. Actually yes.", "no"));
  EXPECT_FALSE(SaysSentence("True. Sorry, false.", "true"));
  for (const char* text :
       {"Yes. It is prime.", "Yes, no doubt.", "Yes. No number divides it.",
        "Yes. Actually, no number divides it."}) {
    EXPECT_TRUE(SaysSentence(text, "yes")) << text;
  }
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
