#include "datasets/answers/opposites.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

using Words = std::optional<std::pair<std::string, std::string>>;

TEST(OppositeWords, AreFoundInEitherOrder) {
  const struct {
    std::string_view gold, answer, a, b;
  } kRows[] = {
      {"a loss of \\$10", "a profit of \\$10", "loss", "profit"},
      {"increase of 10%", "It decreases by 10%.", "increase", "decreases"},
      {"10\\% \\text{ increase}", "\\boxed{10\\% \\text{ decrease}}",
       "increase", "decrease"},
      {"2 men", "There are two women.", "men", "women"},
      {"3 units left", "It moves 3 units to the right.", "units left",
       "to the right"},
      {"90^\\circ \\text{ clockwise}", "90 degrees counter-clockwise",
       "clockwise", "counterclockwise"},
      {"5 minutes before noon", "5 minutes after noon", "minutes before",
       "minutes after"},
      {"a maximum of 5", "a minimum of 5", "maximum", "minimum"},
      {"a profit of 10", "Loss: 10", "profit", "loss"},
      {"8 boys", "8 of the girls", "boys", "girls"},
      {"an increase of 5%", "The decrease is about 5%.", "increase",
       "decrease"},
      {"3 days ago", "in 3 days, that is 3 days from now", "days ago",
       "days from now"},
      {"12 boys", "We subtract. So there are 12 girls.", "boys", "girls"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(OppositeWords(row.gold, row.answer),
              Words(std::pair(row.a, row.b)))
        << row.answer;
    EXPECT_EQ(OppositeWords(row.answer, row.gold),
              Words(std::pair(row.b, row.a)))
        << row.answer;
  }
}

TEST(OppositeWords, NeedOneOnEachSideOnly) {
  const struct {
    std::string_view gold, answer;
  } kRows[] = {
      {"a profit of \\$10", "\\$10"},
      {"10", "a loss of \\$10"},
      {"a profit of \\$10", "a profit of \\$10, not a loss"},
      {"2 men", "2 men and 5 women"},
      {"2 men", "There are 5 women. So there are 2 men."},
      {"12 boys", "Since there are 20 girls, the rest, 12, are boys."},
      {"12 boys", "There are 20 girls, so \\boxed{12}"},
      {"8 boys", "Subtracting the girls: 20 - 12 = 8"},
      {"8 boys", "Subtracting the girls gives 8."},
      {"6 students", "So each teacher has 6."},
      {"6 students", "There are 6 for each teacher."},
      {"3 cats", "The dogs eat; there are 3."},
      {"12 apples left", "The right answer is 12."},
      {"5 more boys than girls", "5 more girls than boys"},
      {"2 men", "2 people"},
      {"", "2 women"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(OppositeWords(row.gold, row.answer), Words()) << row.answer;
    EXPECT_EQ(OppositeWords(row.answer, row.gold), Words()) << row.answer;
  }
}

// Every row of the table, by its first words.
TEST(OppositeWords, OfTheTableAreRead) {
  for (const Phrase& row : Rows(Reading::kOpposite)) {
    const std::string a(row.pattern.substr(0, row.pattern.find(',')));
    const std::string b(row.meaning.substr(0, row.meaning.find(',')));
    EXPECT_TRUE(OppositeWords("5 " + a, "5 " + b)) << a << " " << b;
    EXPECT_FALSE(OppositeWords("5 " + a, "5 " + a)) << a;
  }
}

}  // namespace
}  // namespace espalier
