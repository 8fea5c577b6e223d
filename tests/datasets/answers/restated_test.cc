#include "datasets/answers/find/restated.h"

#include <gtest/gtest.h>

#include <string_view>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

struct Judged {
  const char *gold, *answer;
};

TEST(AnswerRestated, ClausesThatSayMoreOfAName) {
  EXPECT_EQ(WithoutClause("It was Ann Lee, who died in 1784."),
            "It was Ann Lee");
  EXPECT_EQ(WithoutClause("It was Ann Lee, a Polish-French physicist"),
            "It was Ann Lee");
  EXPECT_EQ(WithoutClause("Bern (also known as Berne)."), "Bern");
  for (const char* text :
       {"", "Ann", "It was Ann, or Bob", "It was Ann, who was not Bob",
        "The candidates are Ann, who is tall, and Bob.",
        "It was Ann, a nurse, and Bob", "In Bern, the capital was Rome.",
        "It is Ann, maybe", "Ann (Bob)", "Ann, the winner was Bob"}) {
    EXPECT_EQ(WithoutClause(text), "") << text;
  }
}

TEST(AnswerRestated, Roles) {
  EXPECT_EQ(WithoutRole("her brother Tom"), "Tom");
  EXPECT_EQ(WithoutRole("It is his older brother Tom Lee."), "Tom Lee");
  for (const char* text :
       {"", "Tom", "her brother", "the brother of Tom", "not her brother Tom",
        "her brother or Tom", "the day Tom"}) {
    EXPECT_EQ(WithoutRole(text), "") << text;
  }
}

TEST(AnswerRestated, QuestionsInFront) {
  EXPECT_EQ(BehindQuestion("What is the answer? C."), "C.");
  EXPECT_EQ(BehindQuestion("So, what? Which one is it? 12"), "12");
  for (const char* text : {"", "?", "C?", "Is it C? D", "5? C",
                           "Which one is wrong? C", "What is it? "}) {
    EXPECT_EQ(BehindQuestion(text), "") << text;
  }
}

TEST(AnswerRestated, OtherChoicesRuledOut) {
  EXPECT_EQ(WithoutOthers("The answer is B. All other options are wrong."),
            "The answer is B.");
  EXPECT_EQ(WithoutOthers("It is B. None of the others is right; they fail."),
            "It is B.");
  for (const char* text :
       {"", "All other options are wrong.", "The answer is B. That is wrong.",
        "The answer is B. All others are right."}) {
    EXPECT_EQ(WithoutOthers(text), "") << text;
  }
}

TEST(AnswerRestated, OneValueInTwoWays) {
  using Two = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(SaidTwice("a half (50%)"), Two("a half", "50%"));
  EXPECT_EQ(SaidTwice("twelve, or a dozen."), Two("twelve", "a dozen"));
  EXPECT_EQ(SaidTwice("1/2, that is, 0.5"), Two("1/2", "0.5"));
  EXPECT_EQ(SaidTwice("12"), Two());
  EXPECT_EQ(SaidTwice("(12)"), Two());
}

TEST(AnswerRestated, GradesByTheRightPart) {
  for (const Judged& row : {
           Judged{"George Washington",
                  "The first president was George Washington, who served from "
                  "1789."},
           {"Canberra", "The capital is Canberra, which lies in the ACT."},
           {"Tom", "her brother Tom"},
           {"yes", "Actually yes."},
           {"B", "All options but B are wrong, so the answer is B."},
           {"B", "The answer is B. All other options are wrong."},
           {"C", "What is the answer? C."},
           {"D", "It's D; the other options are incorrect."},
           {"Rome", "The capital is Rome, home to the Colosseum."},
           {"Neil Armstrong",
            "The first man on the Moon was astronaut Neil Armstrong."},
           {"Einstein", "The answer is Einstein, who wrote it in 1905."},
           {"1066", "It was in October 1066."},
           {"1/2", "a half (50%)"},
           {"1/2", "one-half (0.5)"},
           {"12", "twelve, or a dozen"},
       }) {
    EXPECT_TRUE(GradeAnswer(row.gold, row.answer).equal) << row.answer;
  }
  for (const Judged& row : {
           Judged{"George Washington",
                  "The first president was John Adams, who followed George "
                  "Washington."},
           {"George Washington",
            "It was not George Washington, who served from 1789."},
           {"Canberra", "The capital is near Canberra, which lies in the ACT."},
           {"Sara", "It was Ann, who married Sara."},
           {"Tom", "not her brother Tom"},
           {"yes", "Actually no."},
           {"B", "The answer is not B. All other options are wrong."},
           {"C", "What is the answer? D."},
           {"B", "The answer is A. All other options but B are wrong."},
           {"Paris", "The train from Paris, which is in France"},
           {"12", "If it rains, twelve, or a dozen"},
           {"Tom", "The second man was not astronaut Tom."},
           {"1/2", "a half (60%)"},
           {"1/2", "a third (50%)"},
           {"12", "ten, or a dozen"},
       }) {
    EXPECT_FALSE(GradeAnswer(row.gold, row.answer).equal) << row.answer;
  }
}

}  // namespace
}  // namespace espalier
