#include "datasets/answers/find/outright.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace espalier {
namespace {

// The doubt about the first place where a text says `value`.
std::string Doubt(std::string_view text, std::string_view value) {
  const size_t at = text.find(value);
  EXPECT_NE(at, std::string_view::npos) << text;
  return DoubtAbout(text, text.substr(at, value.size()));
}

TEST(DoubtAbout, ClaimsHaveNone) {
  for (const char* text :
       {"24", "#### 24", "So the answer is 24.", "The final answer is: 24",
        "**Answer:** 24 apples", "Since 2x = 48, we have x = 24.",
        "She has 24 apples left.", "Our answer is therefore 24 miles per hour.",
        "If x is even, 20 fails, so the answer is 24.",
        "One might think it is 12, but the answer is 24.",
        "The answer to the question is 24.", "I think the answer is 24.",
        "Let me think.\nThe answer is 24. I hope this helps!",
        "By the Pythagorean theorem, the length is 24."}) {
    EXPECT_EQ(Doubt(text, "24"), "") << text;
  }
}

TEST(DoubtAbout, OtherSpeakers) {
  EXPECT_EQ(Doubt("Tom said it is 24.", "24"), "said");
  EXPECT_EQ(Doubt("They insist that x = 24.", "24"), "insist");
  EXPECT_EQ(Doubt("The note has \"it is 24\" on it.", "24"), "a quotation");
  EXPECT_NE(Doubt("Bob's answer is 24.", "24"), "");
  EXPECT_NE(Doubt("Some hold the answer is 24.", "24"), "");
}

TEST(DoubtAbout, OtherValues) {
  EXPECT_NE(Doubt("The answer to part (a) is 24.", "24"), "");
  EXPECT_NE(Doubt("The answer is the square of 24.", "24"), "");
  EXPECT_NE(Doubt("The answer has 24 digits.", "24"), "");
  EXPECT_EQ(Doubt("The answer is 24 more than that.", "24"), "more");
  EXPECT_EQ(Doubt("24 per class in four classes", "24"), "per");
}

TEST(DoubtAbout, Conditions) {
  EXPECT_EQ(Doubt("24 if n is even", "24"), "if");
  EXPECT_EQ(Doubt("If pigs fly, \\boxed{24}", "\\boxed{24}"), "if");
  EXPECT_EQ(Doubt("24 apples, unless it rains", "24"), "unless");
}

TEST(DoubtAbout, MistakesAndEarlierTries) {
  EXPECT_EQ(Doubt("A common mistake is\n\\[\\boxed{24}\\]", "\\boxed{24}"),
            "common mistake");
  EXPECT_EQ(Doubt("My first attempt led to 24.", "24"), "first attempt");
}

TEST(DoubtAbout, TakenBack) {
  EXPECT_EQ(Doubt("x = 24 (Therefore not 24)", "24"), "not 24");
  EXPECT_EQ(Doubt("The answer is 24. Just kidding.", "24"), "just kidding");
  EXPECT_EQ(Doubt("The answer is 24. But that is too large.", "24"), "but");
}

TEST(DoubtAbout, TheResponseItself) {
  for (const char* text :
       {"Total tokens: 24", "Confidence: 24", "**Confidence score:** 24%",
        "Tokens used = 24", "Word count: 24", "Response length: 24 words",
        "I have solved it 24 times before but not this one.",
        "I solved 24 of these before.", "Steps: 24", "Number of tokens: 24",
        "Confidence level = 24", "**Rating:** 24", "Time taken: 24 seconds",
        "It took me 24 seconds to answer.", "I checked 24 cases."}) {
    EXPECT_NE(Doubt(text, "24"), "") << text;
  }
  for (const char* text :
       {"Total: 24", "Total apples: 24", "Tokens sold at the fair: 24",
        "I have solved it: 24", "She solved 24 problems before lunch.",
        "The total number of tokens is 24.", "The number of steps is 24.",
        "Final score: 24", "Time taken: 24 hours", "It took 24 steps."}) {
    EXPECT_EQ(Doubt(text, "24"), "") << text;
  }
}

TEST(DoubtAbout, OneOperand) {
  EXPECT_EQ(Doubt("the sum of 24", "24"), "the sum of");
  EXPECT_EQ(Doubt("It is the average of 24.", "24"), "it is the average of");
  EXPECT_EQ(Doubt("They have a total of 24.", "24"), "");
}

TEST(DoubtAbout, NotKnownYet) {
  for (const char* text :
       {"24 remain unknown", "24 of them remain undetermined",
        "24 remain to be checked", "24 remains unclear.",
        "24 are still missing"}) {
    EXPECT_NE(Doubt(text, "24"), "") << text;
  }
  EXPECT_EQ(Doubt("24 remain", "24"), "");
  EXPECT_EQ(Doubt("24 remain in the box.", "24"), "");
}

TEST(Asks, ShortAnswersThatDo) {
  for (const char* text :
       {"C?", "\\text{C?}", "\\text{(C)?}", "12?", "\\textbf{C}?"}) {
    EXPECT_TRUE(Asks(text)) << text;
  }
  for (const char* text :
       {"", "C", "C.", "Is it D? No: C",
        "The answer is 12. Would you like to see another way to it?"}) {
    EXPECT_FALSE(Asks(text)) << text;
  }
}

}  // namespace
}  // namespace espalier
