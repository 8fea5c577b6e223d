#include "datasets/answers/plain_fact.h"

#include <gtest/gtest.h>

#include "datasets/answers/grade_answer.h"
#include "datasets/answers/only_mentioned.h"
#include "datasets/answers/reworded_amounts.h"

namespace espalier {
namespace {

struct FactPair {
  const char* gold;
  const char* answer;
};

TEST(AnswersInPlainFacts, StateIt) {
  static constexpr FactPair kPairs[] = {
      // The complement.
      {"Helium",
       "The second most abundant element in the universe is helium, after "
       "hydrogen."},
      {"K2",
       "Mount Everest is the tallest. The second highest mountain is K2 (8,611 "
       "m), on the border."},
      {"German",
       "The groups were German 28.5%, Irish 12.1%.\n\nThe largest group was "
       "German (28.5%)."},
      {"the Treaty of Versailles",
       "The treaty that ended the war was the **Treaty of Versailles**, signed "
       "on 28 June 1919."},
      {"the Pacific Ocean",
       "The largest ocean is the Pacific Ocean, covering a third of the "
       "Earth."},
      {"English",
       "The most common language at home was English, spoken by 81% of them."},
      {"Venus",
       "The hottest planet is Venus, even though Mercury is closer to the "
       "Sun."},
      // The subject.
      {"Alaska", "Alaska is the largest U.S. state by area."},
      {"Reykjavik",
       "Reykjav\u00edk is the capital and the largest city of Iceland."},
      {"Nitrogen", "Nitrogen is the most abundant gas, at about 78%."},
      {"Oxygen", "Oxygen has the atomic number 8."},
      {"the Packers", "The Packers were the first to score."},
      // By whom.
      {"Alexander Fleming",
       "Penicillin was discovered in 1928 at St Mary's Hospital in London by "
       "the Scottish bacteriologist Alexander Fleming."},
      {"J. J. Thomson",
       "The electron was discovered in 1897 by J. J. Thomson."},
      {"Charles Darwin",
       "The theory of evolution by natural selection was proposed by Charles "
       "Darwin."},
      {"Tom Brady",
       "The winning touchdown was thrown by Tom Brady with 10 seconds left."},
      // What is singled out.
      {"the Ottoman Empire",
       "The treaty was signed by both sides, but it was the Ottoman Empire "
       "that gave up the territory."},
      {"German", "There were more German people than Irish people."},
      {"second", "The touchdown came in the second quarter."},
      // Dates, letters and openings.
      {"November 11, 1918",
       "The armistice was signed on 11 November 1918 at Compi\u00e8gne."},
      {"20 July 1969", "Apollo 11 landed on the Moon on July 20, 1969."},
      {"Bogot\u00e1", "Bogota is the capital of Colombia."},
      {"Anton\u00edn Dvo\u0159\u00e1k", "Antonin Dvorak"},
      {"Malm\u00f6", "Malmo"},
      {"14.6",
       "According to the passage, 85.4% of the population was over the age of "
       "18.\n100 - 85.4 = 14.6\n\nSo 14.6% were not over 18."},
      {"Brazil",
       "Sure! Here's the quick answer:\n\nThe country with the most titles is "
       "**Brazil** \U0001F1E7\U0001F1F7, with five titles."},
      // Symbols and kinds.
      {"Au", "gold (symbol Au)"},
      {"Silver", "Silver (chemical symbol Ag)"},
      {"NaCl", "sodium chloride, NaCl"},
      {"sodium chloride", "sodium chloride, NaCl"},
      {"Lake Superior", "Superior (Lake Superior)"},
  };
  for (const FactPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
    const GradeVerdict swapped = GradeAnswer(pair.answer, pair.gold);
    EXPECT_TRUE(swapped.equal || swapped.undecided)
        << pair.gold << " | " << pair.answer << ": " << swapped.reason;
  }
}

TEST(AnswersInPlainFacts, OnlyMentionIt) {
  static constexpr FactPair kPairs[] = {
      {"Hydrogen",
       "The second most abundant element is helium, after hydrogen."},
      {"Mount Everest", "K2 is the second highest after Mount Everest."},
      {"Mount Everest",
       "Mount Everest is the tallest. The second highest mountain is K2."},
      {"Irish",
       "The largest group was German (28.5%), ahead of Irish (12.1%)."},
      {"Iceland", "Reykjav\u00edk is the capital of Iceland."},
      {"Texas",
       "According to the passage, Texas was the second largest producer, "
       "behind "
       "California."},
      {"London",
       "Penicillin was discovered at St Mary's Hospital in London by Alexander "
       "Fleming."},
      {"Michelangelo", "The ceiling was painted by a pupil of Michelangelo."},
      {"Michelangelo",
       "It was painted in 1510 by the pupil of the famous Michelangelo."},
      {"Russia", "It was the Ottoman Empire that gave up land to Russia."},
      {"Albert Einstein", "It was Albert Einstein's wife who wrote it."},
      {"Irish", "There were more German people than Irish people."},
      {"second",
       "The field goal came in the third quarter, after the second quarter."},
      {"November 11, 1918",
       "The treaty was signed seven months after November 11, 1918."},
      {"June 28, 1919",
       "The armistice was signed on 11 November 1918, and the treaty on 28 "
       "June "
       "1919."},
      {"April 14, 1865",
       "Lincoln died the morning after he was shot on April 14, 1865."},
      {"Texas", "Texas is the largest state apart from Alaska."},
      {"volt",
       "The SI unit of current is the ampere, that of voltage is the volt."},
      {"Germany", "Germany lost to Brazil."},
      {"Germany", "The runner-up was Germany."},
      {"Germany", "Germany was the runner-up."},
      {"Tom Brady", "Tom Brady was the losing quarterback."},
      {"Brazil", "The winner might be Brazil."},
      {"Galileo", "The inventor could have been Galileo."},
      {"the heart", "The aorta leaves the heart."},
      {"Polish", "Fewer people were Polish."},
      {"Rome", "The second one is in Rome."},
      {"Helium",
       "The most abundant element is hydrogen, and the second is helium."},
      {"graphite",
       "The hardest form of carbon is diamond, the softest is graphite."},
      {"6", "Few people need six buses."},
      {"Ag", "gold (symbol Au)"},
      {"Na", "sodium chloride, NaCl"},
      {"Lake Michigan", "Superior (Lake Superior)"},
      {"Be", "Boron (Be)"},
      {"even", "The derivative of f is even."},
      // Choices.
      {"A", "A is the best answer, but B is also right."},
      {"B", "B: friction is wrong."},
      {"A", "B\n\n\u2026 A is right."},
  };
  for (const FactPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_FALSE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(AnswersInPlainFacts, AmountsAndLists) {
  static constexpr FactPair kPairs[] = {
      {"90 minutes", "1 hour 30 min"},
      {"2 hours 15 minutes", "2h 15m"},
      {"3 hours 20 minutes", "The trip takes 3 h 20 min."},
      {"47-yard", "47 yards"},
      {"47 yards", "47-yard"},
      {"8 hours",
       "From 10 PM to 6 AM is 2 hours until midnight and 6 hours after it, 8 "
       "hours total."},
      {"$60", "$25 on Monday and $35 on Tuesday, $60 in total."},
      {"4", "2x = 8, so x = 4."},
      {"7 km", "3 km out and 4 km back, 7 km altogether."},
      {"0.36 m^2", "Area = 60 cm \u00d7 60 cm = 3600 cm\u00b2 = 0.36 m\u00b2."},
      {"1.5 L", "Volume = 3 \u00d7 500 mL = 1500 mL = 1.5 L."},
      {"3x+5", "So the simplified expression is `3x + 5`."},
      {"\\{2,3,5,7\\}",
       "The prime numbers less than 10 are:\n\n- 2\n- 3\n- 5\n- 7"},
      {"red, green, blue", "The colors are:\n\n- Red\n- Green\n- Blue"},
      {"(-\\infty,2)\\cup(2,\\infty)", "all real x \\neq 2"},
  };
  for (const FactPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
    const GradeVerdict swapped = GradeAnswer(pair.answer, pair.gold);
    EXPECT_TRUE(swapped.equal || swapped.undecided)
        << pair.gold << " | " << pair.answer << ": " << swapped.reason;
  }
}

TEST(AnswersInPlainFacts, OtherAmountsAndLists) {
  static constexpr FactPair kPairs[] = {
      {"30 minutes", "1 hour 30 min"},
      {"1 hour", "1 hour 30 min"},
      {"47-yard", "47 feet"},
      {"2 hours",
       "From 10 PM to 6 AM is 2 hours until midnight and 6 hours after it, 8 "
       "hours total."},
      {"3600 cm^2", "Area = 60 cm \u00d7 60 cm = 3600 cm\u00b2 = 36 m\u00b2."},
      {"3x+5", "So the simplified expression isn't `3x + 5`."},
      {"\\{2,3,5\\}", "The numbers that are not primes are:\n- 2\n- 3\n- 5"},
      {"\\{2,3\\}", "The primes are:\n- 1\n- 2\n- 3"},
      {"(-\\infty,2)\\cup(2,\\infty)", "all real x \\neq -2"},
      // Equations that are not solved, and a wrong sum.
      {"7", "So 2x + 3 = 7."},
      {"18", "Solving,\n3x = 18"},
      {"3", "|x| = 3"},
      {"6", "So 2 + 3 = 6."},
      {"1/4", "1:4"},
      {"2, -3", "Roots: 2, -3 (only 2 is valid)"},
  };
  for (const FactPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_FALSE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(AnswersInPlainFacts, Parts) {
  EXPECT_EQ(TotalAtEnd("2 h there, 3 h back, so 5 hours in total."), "5 hours");
  EXPECT_EQ(TotalAtEnd("It took 5 hours."), "");
  EXPECT_EQ(OnlyMentioned("7", "So 2x + 3 = 7."), "2x + 3");
  EXPECT_EQ(OnlyMentioned("7", "2x + 3 = 2(2) + 3 = 7"), "");
  EXPECT_EQ(OnlyMentioned("6", "So 2 * 3 = 6."), "");
  EXPECT_TRUE(StatesFact("helium", "The second lightest gas is helium."));
  EXPECT_FALSE(StatesFact("helium", "The lightest gas after helium is neon."));
}

}  // namespace
}  // namespace espalier
