#include "datasets/answers/find/later_answer.h"

#include <gtest/gtest.h>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

TEST(LaterAnswer, WhatIsTakenBackIsNoAnswer) {
  for (const char* behind :
       {"That is wrong.", "But this is incorrect.", "No, 25.", "Wait, it's 25.",
        "Hmm, 25.", "Sorry, 25.", "Recounting gives 25.", "I doubt it.",
        "The correct value is 25.", "Double-checking: 10 + 15 = 25.",
        "We forgot one, so there are 25.", "This is off by one: 25.",
        "The candidate 24 is extraneous.", "Alternatively, 25."}) {
    const std::string text = "The answer is 24. " + std::string(behind);
    EXPECT_FALSE(GradeAnswer("24", text).equal) << text;
    const std::string boxed = "$\\boxed{24}$. " + std::string(behind);
    EXPECT_FALSE(GradeAnswer("24", boxed).equal) << boxed;
  }
}

TEST(LaterAnswer, ChecksAndRemarksChangeNothing) {
  for (const char* behind :
       {"I hope this helps!", "Double-checking: 12 * 2 = 24.",
        "Wait, let me check: 30 - 6 = 24. Yes.",
        "Let me know if that is clear.", "No further steps are needed.",
        "Each box holds 6 of them."}) {
    const std::string text = "The answer is 24. " + std::string(behind);
    EXPECT_TRUE(GradeAnswer("24", text).equal) << text;
  }
}

TEST(LaterAnswer, WordsBehindANumberMayMakeAnotherOne) {
  for (const char* tail :
       {", with a minus sign", ", and then we double it", ", plus one", " +",
        ", with three zeros", " (wrong)", ", or more", " and"}) {
    const std::string text = "The answer is 25" + std::string(tail) + ".";
    EXPECT_FALSE(GradeAnswer("25", text).equal) << text;
  }
  for (const char* tail :
       {", rather than 26", ", not 26", " apples",
        ", with the last 4 in a box of their own", ", since all are even",
        ", and at 6 a day that takes a week"}) {
    const std::string text = "The answer is 25" + std::string(tail) + ".";
    EXPECT_TRUE(GradeAnswer("25", text).equal) << text;
  }
}

TEST(LaterAnswer, WhatTouchesABoxMakesAnotherNumber) {
  for (const char* text :
       {"2\\boxed{12}", "-\\boxed{12}", "\\boxed{12}^2", "\\boxed{12}\\pi",
        "\\sqrt{\\boxed{12}}", "$\\boxed{12}$ million"}) {
    EXPECT_FALSE(GradeAnswer("12", text).equal) << text;
  }
  EXPECT_TRUE(GradeAnswer("12", "So it is \\boxed{12}!").equal);
}

TEST(LaterAnswer, AStepInFrontOfAConclusionIsNone) {
  for (const char* text :
       {"3 * 8 = 24. He gave away 4. So 20 are left.",
        "He has 3 boxes of 8: 3 * 8 = 24 eggs. He gave away 4, so 20 are left.",
        "First, 3 * 8 = 24. Then 20 remain.", "3 * 8 = 24. Now 20 are left.",
        "3 * 8 = 24\nHe gave away 4\nSo 20 are left."}) {
    EXPECT_FALSE(GradeAnswer("24", text).equal) << text;
    EXPECT_TRUE(EndsInOther(text, "24")) << text;
  }
  for (const char* text :
       {"3 * 8 = 24. So 24 are left.", "1/4 = 0.25. So it is 25%.",
        "3 * 8 = 24. So there are not 20.", "3 * 8 = 24 eggs.", ""}) {
    EXPECT_FALSE(EndsInOther(text, "24")) << text;
  }
}

}  // namespace
}  // namespace espalier
