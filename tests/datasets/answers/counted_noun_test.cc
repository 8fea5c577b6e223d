#include "datasets/answers/find/counted_noun.h"

#include <gtest/gtest.h>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

TEST(AnswerCountsOtherNoun, Found) {
  EXPECT_EQ(OtherNoun("12 apples", "There are 12 oranges.", "12"), "oranges");
  EXPECT_EQ(OtherNoun("12 red apples", "12 green pears are left", "12"),
            "pears");
  EXPECT_EQ(OtherNoun("5 books", "5 children", "5"), "children");
  const GradeVerdict verdict =
      GradeAnswer("12 apples", "There are 12 oranges.");
  EXPECT_FALSE(verdict.equal);
  EXPECT_TRUE(verdict.undecided);
}

TEST(AnswerCountsOtherNoun, SameNounsUnitsAndNone) {
  const struct {
    const char *gold, *answer;
  } kRows[] = {{"12 apples", "12"},
               {"12 apples", "There are 12 left."},
               {"12 apples", "She has 12 red apples left."},
               {"12 boxes", "12 box"},
               {"12 cities", "It is 12 big ones, so each city counts."},
               {"12 apples", "The 12 in the basket are pears."},
               {"12 apples", "12 are oranges"},
               {"12 hours", "12 lessons"},
               {"12 cm", "12 centimetres"},
               {"12", "12 oranges"},
               {"apples", "12 oranges"}};
  for (const auto& row : kRows) {
    EXPECT_EQ(OtherNoun(row.gold, row.answer, "12"), "") << row.answer;
  }
}

}  // namespace
}  // namespace espalier
