#include "datasets/answers/era_year.h"

#include <gtest/gtest.h>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

TEST(AnswerEraYear, Spellings) {
  for (const char* text : {"44 BC", "44 B.C.", "44 bce", "In 44 B.C.E.",
                           "in the year 44 BC.", "It happened in 44 BC."}) {
    const auto year = ReadEraYear(text);
    ASSERT_TRUE(year.has_value()) << text;
    EXPECT_EQ(year->year, 44) << text;
    EXPECT_TRUE(year->before) << text;
  }
  for (const char* text : {"AD 70", "70 AD", "70 C.E.", "In A.D. 70."}) {
    const auto year = ReadEraYear(text);
    ASSERT_TRUE(year.has_value()) << text;
    EXPECT_EQ(year->year, 70) << text;
    EXPECT_TRUE(year->named && !year->before) << text;
  }
  for (const char* text :
       {"", "BC", "44BC", "44 BC or 45 BC", "44 BCD", "It was not in 44 BC",
        "perhaps in 44 BC", "before 44 BC", "road 70", "12345 BC"}) {
    const auto year = ReadEraYear(text);
    EXPECT_FALSE(year && (year->named || year->before)) << text;
  }
}

TEST(AnswerEraYear, Compares) {
  EXPECT_EQ(SameYear("776 BC", "In 776 BC."), true);
  EXPECT_EQ(SameYear("500 BC", "500 B.C."), true);
  EXPECT_EQ(SameYear("776 BC", "In 776 AD."), false);
  EXPECT_EQ(SameYear("79", "79 AD"), true);
  EXPECT_EQ(SameYear("1789", "In 1789."), true);
  for (const auto& [gold, answer] : {std::pair{"776 BC", "In 776."},
                                     {"776 BC", "775 BC"},
                                     {"1789", "In 1789 BC."},
                                     {"5", "In 5"},
                                     {"It was in 5 BC", "5 BC"}}) {
    EXPECT_EQ(SameYear(gold, answer), std::nullopt) << answer;
  }
  EXPECT_FALSE(GradeAnswer("776 BC", "In 776.").equal);
  EXPECT_FALSE(GradeAnswer("1789", "In 1789 BC.").equal);
}

}  // namespace
}  // namespace espalier
