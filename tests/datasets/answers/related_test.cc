#include "datasets/answers/find/related.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace espalier {
namespace {

struct Mention {
  std::string_view gold, answer;
};

TEST(OnlyRelated, FindsWordsThatMakeAnotherAnswerOfIt) {
  const struct {
    std::string_view gold, answer, words;
  } kRows[] = {
      {"Monday", "the day after Monday", "after"},
      {"Monday", "It falls on the day following Monday.", "following"},
      {"Monday", "\\text{the day before } \\textbf{Monday}", "before"},
      {"Tom", "The brother of Tom.", "brother of"},
      {"Tom", "It is his oldest friend of Tom", "friend of"},
      {"Tom", "The person next to Tom", "next to"},
      {"red", "The opposite of the red.", "opposite of"},
      {"Paris", "the mayor of Paris", "mayor of"},
      {"March", "the last day of March", "day of"},
      {"B", "Every option but B is correct.", "but"},
      {"B", "Each of the choices, except for option (B), holds.", "except for"},
      {"B", "Tom likes it. All the options other than **B** work.",
       "other than"},
      {"7", "All numbers save 7.", "save"},
      {"7", "Every number but seven", "but"},
      {"x=2", "every x except $x = 2$", "except"},
      {"x=2", "every x except 2", "except"},
      {"2", "every $x$ apart from $x = 2$", "apart from"},
      {"Monday", "Any day but Monday", "but"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(OnlyRelated(row.gold, row.answer), row.words) << row.answer;
  }
}

TEST(OnlyRelated, LeavesOtherMentionsAlone) {
  for (const Mention& row : {
           Mention{"Monday", "Monday, the day after Sunday"},
           {"Monday", "The day after Sunday is Monday."},
           {"Monday", "He came on Monday."},
           {"Monday", "It is the day after Monday, so the answer is Monday."},
           {"Tom", "Tom, the brother of Ann"},
           {"Tom", "The winner is Tom."},
           {"Paris", "It is the city of Paris."},
           {"gold", "The ring is made of gold."},
           {"red", "The opposite of green is red."},
           {"B", "All but B are wrong, so B"},
           {"B", "None of the options but B is right."},
           {"B", "Every other option fails, but B works."},
           {"7", "The answer is 7."},
           {"12 days", "It is over after 12 days."},
           {"\\pi", "an angle of \\pi"},
           {"5", "All but 3 of the 8 were sold, that is 5"},
       }) {
    EXPECT_EQ(OnlyRelated(row.gold, row.answer), "") << row.answer;
  }
}

TEST(WithoutApposition, DropsWhatSaysMoreOfAName) {
  EXPECT_EQ(WithoutApposition("The answer is Monday, the day after Sunday."),
            "The answer is Monday");
  EXPECT_EQ(WithoutApposition("Tom, the oldest brother of Ann"), "Tom");
  EXPECT_EQ(WithoutApposition("Bob, son of Carl"), "Bob");
  EXPECT_EQ(WithoutApposition("Tom, who is the brother of Ann"), "Tom");
  for (const char* text :
       {"Monday", "red, the blue", "Tom, the boy", "12, the number after 11",
        "It is Tom, the brother of Ann is Bob.", ", the day after Sunday"}) {
    EXPECT_EQ(WithoutApposition(text), "") << text;
  }
}

TEST(ConclusionAbout, BehindTheOthers) {
  EXPECT_EQ(ConclusionAbout("B", "All but B are wrong, so B"), "B");
  EXPECT_EQ(ConclusionAbout("B", "Every option except B fails, hence it is B."),
            "it is B.");
  for (const char* text : {"A is wrong, so B", "All but B are wrong, and B",
                           "All but B are wrong", "All but B, so"}) {
    EXPECT_EQ(ConclusionAbout("B", text), "") << text;
  }
}

}  // namespace
}  // namespace espalier
