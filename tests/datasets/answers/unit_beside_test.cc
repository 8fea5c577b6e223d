#include "datasets/answers/find/unit_beside.h"

#include <gtest/gtest.h>

#include <vector>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

TEST(UnitBeside, StandsBehindTheNumber) {
  EXPECT_EQ(UnitBeside("It is \\boxed{20} km/h.", "20"), " km/h");
  EXPECT_EQ(UnitBeside("so $v = 20$ m/s", "20"), " m/s");
  EXPECT_EQ(UnitBeside("an area of 50 square miles", "50"), " square miles");
  EXPECT_EQ(UnitBeside("12 miles per hour at most", "12"), " miles per hour");
  EXPECT_EQ(UnitBeside("Area: $\\boxed{9}$ cm$^2$", "9"), " cm^2");
}

TEST(UnitBeside, MoneyIsASignInFront) {
  EXPECT_EQ(UnitBeside("It costs $5.", "5"), " dollars");
  EXPECT_EQ(UnitBeside("It costs $5 million.", "5"), "");
  EXPECT_EQ(UnitBeside("so $5$ are left", "5"), "");
}

TEST(UnitBeside, NoneWhereItIsNotWhole) {
  EXPECT_EQ(UnitBeside("She earns 5 dollars an hour.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5 in all.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 15 km.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5.5 km.", "5"), "");
  EXPECT_EQ(UnitBeside("There are 5 cats.", "5"), "");
  EXPECT_EQ(UnitBeside("5", ""), "");
}

// One gold, and answers that say it and that do not, whichever is gold.
struct AmountRow {
  const char* gold;
  std::vector<const char*> equal, other;
};

TEST(UnitBeside, NumbersInWordsKeepTheirUnits) {
  const std::vector<AmountRow> rows = {
      {"3 years",
       {"three years", "It lasted for three years.", "3", "three yrs"},
       {"three months", "three days", "three kilograms", "three dollars",
        "The answer is three months.", "It lasted for three months.",
        "**three months**", "\\boxed{three months}", "three fortnights",
        "It was a three-month stay.", "three months and two days"}},
      {"three years", {"3 years"}, {"3 months", "It lasted for 3 months."}},
      {"five miles",
       {"5 miles", "The distance is 5 miles."},
       {"5 km", "5 kilometers", "The distance is 5 km."}},
      {"two dozen", {"24"}, {"2", "two"}},
      {"half an hour", {"30 minutes"}, {"30 seconds", "half a minute"}},
      {"1/2 mile", {"half a mile"}, {"half a kilometer"}},
      {"5.5 miles", {}, {"five and a half kilometers"}},
      {"two million dollars", {"2 million dollars"}, {"2 million euros"}},
      {"3 dollars", {"three dollars"}, {"three cents"}},
      {"25%", {"twenty-five percent"}, {"twenty-five years"}},
      {"7 days", {"seven days"}, {"seven nights"}},
      {"60 mph",
       {"sixty miles per hour"},
       {"sixty kilometers per hour", "sixty miles"}},
      {"6 days", {"At 4 miles per day it takes six days."}, {}},
      {"5 dollars", {"five bucks"}, {"five euros"}},
  };
  for (const AmountRow& row : rows) {
    for (const char* answer : row.equal) {
      const GradeVerdict verdict = GradeAnswer(row.gold, answer);
      EXPECT_TRUE(verdict.equal)
          << row.gold << " | " << answer << ": " << verdict.reason;
    }
    for (const char* answer : row.other) {
      EXPECT_FALSE(GradeAnswer(row.gold, answer).equal)
          << row.gold << " | " << answer;
      EXPECT_FALSE(GradeAnswer(answer, row.gold).equal)
          << answer << " | " << row.gold;
    }
  }
}

}  // namespace
}  // namespace espalier
