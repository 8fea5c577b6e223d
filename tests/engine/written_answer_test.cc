#include "src/engine/written_answer.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(AnswerAsWrittenTest, IsTheSpellingOfTheResponse) {
  EXPECT_EQ(AnswerAsWritten("5833/10000", "7/12 is about .5833"), ".5833");
  EXPECT_EQ(AnswerAsWritten("8/5", "8 by 5 = 1.60."), "1.60");
  EXPECT_EQ(AnswerAsWritten("-1/2", "x = -0.5, y = 0.5"), "-0.5");
  EXPECT_EQ(AnswerAsWritten("1000", "It costs $1,000."), "1,000");
  EXPECT_EQ(AnswerAsWritten("paris", "It is Paris."), "Paris");
}

TEST(AnswerAsWrittenTest, OtherAnswersStayAsTheyAre) {
  EXPECT_EQ(AnswerAsWritten("", "5"), "");
  EXPECT_EQ(AnswerAsWritten("8", "= 8"), "8");
  EXPECT_EQ(AnswerAsWritten("3/4", "\\frac{3}{4}"), "3/4");
  EXPECT_EQ(AnswerAsWritten("1/2", "0.25 and 1.5"), "1/2");
  EXPECT_EQ(AnswerAsWritten("1/2", "half, 2/4 or 0.5: 1/2"), "1/2");
  EXPECT_EQ(AnswerAsWritten("rome", ""), "rome");
}

}  // namespace
}  // namespace espalier
