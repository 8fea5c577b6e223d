#include "datasets/answers/written_alike.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/answers/words/plain_letters.h"
#include "datasets/answers/words/residue_class.h"
#include "datasets/answers/words/same_names.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

// One gold, and answers that say it and that do not.
struct AlikeRow {
  const char* gold;
  std::vector<const char*> equal, other;
};

void ExpectAlike(const std::vector<AlikeRow>& rows) {
  for (const AlikeRow& row : rows) {
    for (const char* answer : row.equal) {
      const GradeVerdict verdict = GradeAnswer(row.gold, answer);
      EXPECT_TRUE(verdict.equal)
          << row.gold << " | " << answer << ": " << verdict.reason;
      // A gold answer is no sentence.
      if (std::string_view(answer).ends_with(".")) continue;
      const GradeVerdict back = GradeAnswer(answer, row.gold);
      EXPECT_TRUE(back.equal || back.undecided)
          << answer << " | " << row.gold << ": " << back.reason;
    }
    for (const char* answer : row.other) {
      const GradeVerdict verdict = GradeAnswer(row.gold, answer);
      EXPECT_FALSE(verdict.equal)
          << row.gold << " | " << answer << ": " << verdict.reason;
    }
  }
}

TEST(AnswersWrittenAlike, Dates) {
  ExpectAlike({
      {"05/14/1987",
       {"May 14, 1987", "14 May 1987", "1987-05-14", "14.05.1987",
        "May 14th, 1987", "The date is May 14, 1987.", "14/05/1987",
        "Thursday, May 14, 1987", "Her birthday is on May 14, 1987."},
       {"May 15, 1987", "14 May 1988", "1987-05-13", "1987", "May 1987",
        "The date is not May 14, 1987.", "the day after May 14, 1987",
        "May 14, 1987 or May 15, 1987", "before May 14, 1987"}},
      {"11/25/2021",
       {"So the date is November 25, 2021 \u2192 11/25/2021.", "Nov 25, 2021"},
       {"11/26/2021", "So the date is November 25, 2021 \u2192 11/26/2021."}},
      {"July 20, 1969",
       {"07/20/1969", "On July 20, 1969"},
       {"07/21/1969", "On July 20, 1969 or later"}},
      {"1912", {}, {"April 15, 1912"}},
  });
  // The order of day and month is open.
  EXPECT_TRUE(GradeAnswer("05/01/2021", "May 1, 2021").undecided);
  EXPECT_TRUE(GradeAnswer("January 5, 2021", "05/01/2021").undecided);
  EXPECT_FALSE(GradeAnswer("05/01/2021", "01/05/2021").undecided);
  EXPECT_FALSE(GradeAnswer("05/01/2021", "May 2, 2021").undecided);
  bool open = false;
  EXPECT_EQ(WithDatesInWords("a 3/4/2020 b", DateOrder::kDayFirst, &open),
            "a April 3, 2020 b");
  EXPECT_TRUE(open);
  for (const char* text : {"5/14/1987/2", "1/2", "13/13/2000", "2.5.3", "5/14",
                           "May 1987", "14 1987", "May 32, 1987"}) {
    EXPECT_EQ(WithDatesInWords(text, DateOrder::kMonthFirst, nullptr), text);
    EXPECT_FALSE(IsWholeDate(text)) << text;
  }
}

TEST(AnswersWrittenAlike, ShortNames) {
  ExpectAlike({
      {"United States",
       {"USA", "U.S.", "US", "U.S.A.", "the United States of America",
        "The answer is the USA.", "The country is the U.S.",
        "United States of America (USA)"},
       {"UK", "UAE", "us and them", "It was not the USA.", "USA Today",
        "Everyone but the US", "either the UK or the US", "the US Open"}},
      {"USA", {"United States", "US"}, {"UK", "Usa Maki"}},
      {"UK", {"United Kingdom", "the U.K."}, {"Ukraine", "US"}},
      {"New York City", {"NYC", "The city is NYC."}, {"New York State", "NY"}},
      {"John F. Kennedy",
       {"JFK", "John Fitzgerald Kennedy"},
       {"RFK", "John R. Kennedy", "the brother of JFK", "JFK airport"}},
      {"World War II",
       {"World War 2", "WWII", "the Second World War"},
       {"World War I", "WWI", "after World War 2"}},
  });
  EXPECT_EQ(WithShortNamesInFull("Paris", "the US"), "the US");
}

TEST(AnswersWrittenAlike, Persons) {
  ExpectAlike({
      {"Alexander Fleming",
       {"Sir Alexander Fleming", "Dr. Alexander Fleming",
        "It was discovered by Sir Alexander Fleming."},
       {"Ian Fleming", "Lady Fleming", "a student of Sir Alexander Fleming"}},
      {"Neil Armstrong",
       {"Neil A. Armstrong",
        "The first person to walk on the Moon was Neil A. Armstrong."},
       {"Neil A. Armstrong or Buzz Aldrin", "Louis Armstrong",
        "Neil A. Armstrong Jr."}},
      {"George W. Bush", {"George W Bush"}, {"George H. W. Bush"}},
      {"John Adams", {}, {"John Q. Adams", "John Quincy Adams"}},
      {"George Bush", {}, {"George W. Bush"}},
      {"Wolfgang Amadeus Mozart",
       {"W. A. Mozart", "W.A. Mozart"},
       {"L. A. Mozart"}},
  });
  EXPECT_EQ(WithPersonAs("Neil Armstrong", "Dr. Neil A. Armstrong, pilot"),
            "Neil Armstrong, pilot");
  EXPECT_EQ(WithPersonAs("South Africa", "South West Africa"),
            "South West Africa");
}

TEST(AnswersWrittenAlike, Diacritics) {
  ExpectAlike({
      {"Diego Vel\u00e1zquez",
       {"Diego Velazquez", "Diego Vela\u0301zquez",
        "It was painted by Diego Velazquez."},
       {"Diego Rivera", "Diego Vazquez", "not Diego Velazquez",
        "a pupil of Diego Velazquez"}},
      {"Brasilia", {"Bras\u00edlia"}, {"Rio, not Bras\u00edlia"}},
      {"Anton\u00edn Dvo\u0159\u00e1k", {"Antonin Dvorak"}, {"Antonin Novak"}},
      {"\u0141\u00f3d\u017a", {"Lodz"}, {"Lod"}},
  });
  EXPECT_EQ(WithPlainLetters("\u00c6r\u00f8 stra\u00dfe"), "Aero strasse");
  for (const char* sign :
       {"5 \u00c5", "x\u0304 = 5", "x\u0302y\u0302", "\u00b5"}) {
    EXPECT_EQ(WithPlainLetters(sign), sign);
  }
}

TEST(AnswersWrittenAlike, TwoNames) {
  ExpectAlike({
      {"Denmark and Sweden",
       {"Sweden and Denmark", "The bridge connects **Sweden** and **Denmark**.",
        "The bridge connects Sweden and Denmark."},
       {"Denmark and Norway", "Sweden",
        "The bridge connects Germany, Denmark and Sweden.",
        "The bridge does not connect Denmark and Sweden.",
        "It lies south of Denmark and Sweden."}},
  });
}

TEST(AnswersWrittenAlike, FormulasOfChemistry) {
  ExpectAlike({
      {"H2SO4",
       {"H\u2082SO\u2084", "$H_2SO_4$", "\\ce{H2SO4}", "The formula is H2SO4.",
        "$\\text{H}_2\\text{SO}_4$",
        "The formula of sulfuric acid is **H\u2082SO\u2084**."},
       {"H2SO3", "H\u2082S", "not H\u2082SO\u2084", "2H2SO4", "HSO4-",
        "H\u2082SO\u2084 or H\u2082SO\u2083", "H2S04"}},
      {"CO", {"CO"}, {"Co", "CO2", "C"}},
      {"CO2", {"CO\u2082", "The gas is CO\u2082."}, {"C2O", "Co2"}},
      {"Ca(OH)2", {"Ca(OH)\u2082", "$\\mathrm{Ca(OH)_2}$"}, {"CaOH2"}},
      {"SO4^{2-}", {"SO\u2084\u00b2\u207b", "$SO_4^{2-}$"}, {"SO\u2084\u207b"}},
      {"\\mathrm{C_6H_{12}O_6}",
       {"C6H12O6",
        "**Empirical formula:** CH\u2082O\n**Ratio:** 180 / 30 = 6\n"
        "**Molecular formula:** C\u2086H\u2081\u2082O\u2086"},
       {"CH2O", "6",
        "**Molecular formula:** C6H12O6\n**Empirical formula:** "
        "CH2O"}},
  });
}

TEST(AnswersWrittenAlike, EquationsOfChemistry) {
  ExpectAlike({
      {"2H2 + O2 -> 2H2O",
       {"$$2H_2 + O_2 \\rightarrow 2H_2O$$", "O2 + 2H2 -> 2H2O",
        "2H\u2082(g) + O\u2082(g) \u2192 2H\u2082O(l)",
        "\\ce{2H2 + O2 -> 2H2O}",
        "$2\\mathrm{H_2} + \\mathrm{O_2} \\to 2\\mathrm{H_2O}$",
        "Unbalanced: H\u2082 + O\u2082 \u2192 H\u2082O\n\nBalanced equation:\n"
        "$$2H_2 + O_2 \\rightarrow 2H_2O$$"},
       {"H2 + O2 -> H2O", "2H2O -> 2H2 + O2", "4H2 + 2O2 -> 4H2O",
        "2H2 + O2 -> 2H2", "It is not 2H2 + O2 -> 2H2O.",
        "The wrong equation: 2H2 + O2 -> 2H2O"}},
  });
  EXPECT_EQ(SameChemistry("2H2 + O2 -> 2H2O", "O_2 + 2H_2 \\to 2H_2O"), true);
  EXPECT_EQ(SameChemistry("CO2", "C2O"), false);
  for (const char* text : {"5", "x + y", "CO", "2B", "Hello"}) {
    EXPECT_EQ(SameChemistry(text, "CO2"), std::nullopt) << text;
  }
}

TEST(AnswersWrittenAlike, ResidueClasses) {
  ExpectAlike({
      {"x\\equiv 3\\pmod 7",
       {"x = 7k + 3, where k is any integer", "x = 7n + 3, n \u2208 \u2124",
        "x = 3 + 7k", "x = 7k + 10 for any integer k",
        "$x = 7k + 3$ for $k \\in \\mathbb{Z}$", "x is congruent to 3 modulo 7",
        "**So x = 7k + 3 for any integer k.**", "x = 7k - 4, k an integer"},
       {"x = 7k + 4, where k is any integer", "x = 14k + 3 for any integer k",
        "x = 7k + 3, where k is an odd integer", "x = 7k + 3 with k even",
        "x = 7k^2 + 3", "x = 7k + 3 + m", "x = 7k + 3 or x = 7k + 5",
        "x = 7k + 3, k = 2", "not x = 7k + 3"}},
      {"x\\equiv 23 \\pmod{105}",
       {"Testing: 23 mod 3 = 2.\n\n**So x = 105k + 23 for any integer k.**"},
       {"x = 35k + 23, where k is an integer"}},
  });
  EXPECT_EQ(WithCongruences("So x = 7k + 3 for any integer k."),
            "So x \u2261 3 (mod 7).");
  EXPECT_EQ(WithCongruences("\\(x = 7k + 3\\)"), "\\(x \\equiv 3 \\pmod{7}\\)");
}

TEST(AnswersWrittenAlike, CountsAndBases) {
  ExpectAlike({
      {"15",
       {"15 quarters", "There are 15 quarters."},
       {"16 quarters", "at most 15 quarters", "15 quarters of a mile"}},
      {"15/4", {}, {"15 dimes", "16 quarters"}},
      {"6",
       {"six buses", "Number = 252 / 42 = 6\n\nThey need six buses."},
       {"six hundred buses", "twenty-six buses", "at least six buses",
        "six of the seven buses", "six and a half buses"}},
      {"10111",
       {"$23_{10} = 10111_2$", "23\u2081\u2080 = 10111\u2082"},
       {"$24_{10} = 10111_2$", "$23_{10} = 10111_3$",
        "$23_{10} = 10111_2 + 1$"}},
      {"90 minutes", {"an hour and a half"}, {"half an hour", "an hour"}},
      {"37.5\\%", {"37.5 per cent"}, {"38 per cent"}},
  });
}

TEST(AnswersWrittenAlike, RangesInWords) {
  ExpectAlike({
      {"[2,5]",
       {"between 2 and 5, inclusive",
        "all real numbers from 2 to 5, including both endpoints"},
       {"between 2 and 5, exclusive", "between 2 and 6, inclusive"}},
      {"(2,5)",
       {"between 2 and 5, exclusive", "x is greater than 2 and less than 5",
        "all real numbers between 2 and 5, not including the endpoints"},
       {"between 2 and 5, inclusive", "x is greater than 2 or less than 5"}},
      {"x<2 \\text{ or } x>5",
       {"x is less than 2 or greater than 5"},
       {"x is less than 2 or greater than 6"}},
      {"x\\geq 3",
       {"any number greater than or equal to 3"},
       {"any number greater than 3", "any number strictly greater than 3"}},
  });
}

// Nothing is quadratic in the length of an answer.
TEST(AnswersWrittenAlike, VerdictsOfTheOtherKind) {
  ExpectAlike({
      {"yes",
       {"True", "true.", "**True**", "\\boxed{True}",
        "Step 3: Hence ethanol boils first.\n\nYes, it boils before water.",
        "Many zoos hold both species.\n\n**Yes**, it's possible."},
       {"False", "\\boxed{\\text{False}}", "Not true", "No",
        "Penguins are birds.\n\nYes, many people think they can fly.",
        "No, it isn't.\n\nYes, it is.", "Tom wrote:\n\nYes, it boils first.",
        "It boils first.\n\nYes, but only at sea level.",
        "Maybe.\n\nYes, if it rains."}},
      {"false", {"No.", "no"}, {"Yes", "Yes."}},
      {"no", {"False", "Some say it is.\n\nNo, it isn't."}, {"True"}},
  });
}

TEST(AnswersWrittenAlike, DaysTimesAndInfinity) {
  ExpectAlike({
      {"Wednesday", {"Wed.", "Wed"}, {"Thu.", "wet"}},
      {"7:15",
       {"7:15 pm", "7:15 am", "The movie ends at **7:15 pm**."},
       {"8:15 pm", "The movie ends at 7:51 pm.",
        "It starts at 7:15 pm and ends at 9:15 pm."}},
      {"7:15 am", {}, {"7:15 pm"}},
      {"7:15 pm", {"19:15"}, {"7:15"}},
      {"\\infty",
       {"diverges to infinity", "The series diverges to infinity."},
       {"diverges to negative infinity", "It never diverges to infinity."}},
      {"-\\infty", {}, {"diverges to infinity"}},
  });
}

TEST(AnswersWrittenAlike, PersonsInPairsAndSeats) {
  ExpectAlike({
      {"Edmund Hillary and Tenzing Norgay",
       {"The first people on Mount Everest were Tenzing Norgay and Sir Edmund "
        "Hillary, on 29 May 1953.",
        "The first people were Tenzing Norgay and Edmund Hillary."},
       {"The first were Tenzing Norgay and Sir Percival Hillary, on 29 May "
        "1953.",
        "The first were John Hunt and Sir Edmund Hillary, on 29 May 1953.",
        "The first were not Tenzing Norgay and Sir Edmund Hillary."}},
      {"The Hague",
       {"The court has its seat in The Hague (Den Haag), in the Netherlands.",
        "The court has its seat in The Hague."},
       {"The court does not have its seat in The Hague.",
        "The court has its seat in Geneva."}},
      {"2H2 + O2 -> 2H2O",
       {"It is balanced:\n\n$$\\mathrm{2H_2 + O_2 \\rightarrow 2H_2O}$$\n\n"
        "Check: H: 4 = 4, O: 2 = 2 \u2713"},
       {"$$\\mathrm{H_2 + O_2 \\rightarrow H_2O}$$\n\nCheck: H: 2 = 2",
        "$$2H_2 + O_2 \\rightarrow H_2O$$\n\nCheck: it must be 2H2 + O2 -> "
        "2H2O"}},
  });
}

TEST(AnswersWrittenAlike, HugeAnswersAreReadQuickly) {
  constexpr size_t kLength = 60000;
  for (const std::string_view piece :
       {"H(", "\\ce{", "H2+", "7k", "x = 7k", "1/", "May 1 ", "**", "six ",
        "1_", "US", "Neil A. ", "\u00e1", "and "}) {
    std::string answer;
    while (answer.size() < kLength) answer += piece;
    for (const char* gold :
         {"H2O", "2H2 + O2 -> 2H2O", "x \\equiv 3 \\pmod 7", "05/14/1987", "6",
          "US", "Neil Armstrong", "Ann and Bob"}) {
      const auto start = std::chrono::steady_clock::now();
      WrittenAlike(gold, answer);
      const std::chrono::duration<double> seconds =
          std::chrono::steady_clock::now() - start;
      EXPECT_LT(seconds.count(), .5) << gold << " | " << piece;
    }
  }
}

}  // namespace
}  // namespace espalier
