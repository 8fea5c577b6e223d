#include "datasets/answers/words/names_said.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

enum class Told { kEqual, kDifferent, kOpen };

struct NamePair {
  const char* gold;
  const char* answer;
  Told verdict;
};

void ExpectVerdicts(const std::vector<NamePair>& pairs) {
  for (const NamePair& pair : pairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_EQ(verdict.equal, pair.verdict == Told::kEqual)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
    EXPECT_EQ(verdict.undecided, pair.verdict == Told::kOpen)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(NamesSaidInAnswers, Parts) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesSaid("The laws were formulated by Johannes Kepler."),
            Names{"Johannes Kepler"});
  EXPECT_EQ(NamesSaid("The falls lie on the Zambezi River."),
            Names{"the Zambezi River"});
  for (const char* text :
       {"", "Kepler", "The laws of Kepler", "It was not made by Ann Lee.",
        "It was made by Ann Lee and Bob Ray.", "It was made by Ann or Bob.",
        "He was born in Ulm and died in Princeton."}) {
    EXPECT_EQ(NamesSaid(text), Names()) << text;
  }
  EXPECT_EQ(SameButKind("Zambezi", "the Zambezi River"), Alike::kSame);
  EXPECT_EQ(SameButKind("Ohio", "the Ohio River"), Alike::kMaybe);
  EXPECT_EQ(SameButKind("Mexico", "Mexico City"), Alike::kOther);
  EXPECT_EQ(WithoutShortForm("Tungsten (W) is hard."), "Tungsten is hard");
  EXPECT_EQ(WithoutShortForm("Paris (TX)"), "");
  using Forms = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(BothForms("Gold (Au)"), Forms("Gold", "Au"));
  EXPECT_EQ(BothForms("Gold (Ag)"), Forms());
  EXPECT_EQ(WithoutCountry("It's Paris, France."), "It's Paris");
  EXPECT_EQ(WithoutCountry("It's Paris, Texas."), "");
}

TEST(NamesSaidInAnswers, WordsForTheirKind) {
  ExpectVerdicts({
      {"Zambezi", "The falls lie on the Zambezi River.", Told::kEqual},
      {"Danube", "Budapest is situated on the Danube River.", Told::kEqual},
      {"Nile River", "The answer is the Nile.", Told::kEqual},
      {"Pacific", "The largest ocean is the Pacific Ocean.", Told::kEqual},
      {"Lake Baikal", "Baikal", Told::kEqual},
      {"Mount Everest", "Everest", Told::kEqual},
      {"Sahara", "That would be the Sahara Desert.", Told::kEqual},
      {"Ming", "Ming Dynasty", Told::kEqual},
      {"Thames", "London lies on the River Thames.", Told::kEqual},
      {"Ohio River", "the Ohio", Told::kEqual},
      {"Nile", "Nile River, Egypt", Told::kEqual},
      {"Nile", "Nile Delta", Told::kDifferent},
      {"Pacific", "Indian Ocean", Told::kDifferent},
      {"Mexico", "Mexico City", Told::kDifferent},
      {"Kansas", "Kansas City", Told::kDifferent},
      {"Ohio", "the Ohio River", Told::kOpen},
      {"Victoria", "Lake Victoria", Told::kOpen},
      {"red", "the Red Sea", Told::kOpen},
      {"Nile", "The Blue Nile River", Told::kDifferent},
      {"Nile", "It is not the Nile River.", Told::kDifferent},
      {"Nile", "It could be the Nile River.", Told::kDifferent},
      {"Amazon", "The Nile River is longer than the Amazon River.",
       Told::kDifferent},
      {"Titicaca", "It lies north of Lake Titicaca.", Told::kOpen},
  });
}

TEST(NamesSaidInAnswers, AgentsAndPlaces) {
  ExpectVerdicts({
      {"Johannes Kepler",
       "They were formulated by the German astronomer Johannes Kepler in 1609.",
       Told::kEqual},
      {"Leonardo da Vinci", "It was painted by Leonardo da Vinci.",
       Told::kEqual},
      {"Jane Austen", "Written by Jane Austen.", Told::kEqual},
      {"Leibniz", "It was invented by Leibniz, who was younger than Newton.",
       Told::kEqual},
      {"Gustave Eiffel",
       "The tower was designed by Gustave Eiffel. It opened in 1889.",
       Told::kEqual},
      {"Ulm", "Einstein was born in 1879 in Ulm.", Told::kEqual},
      {"Geneva", "It is headquartered in Geneva, Switzerland.", Told::kEqual},
      {"F. Scott Fitzgerald", "It was written by F. Scott Fitzgerald.",
       Told::kEqual},
      {"Harper Lee", "To Kill a Mockingbird was written by Harper Lee.",
       Told::kEqual},
      {"Bay of Bengal", "The Ganges empties into the Bay of Bengal.",
       Told::kEqual},
      {"Mississippi River", "St. Louis is located on the Mississippi River.",
       Told::kEqual},
      {"Bob Ray", "\"Written by Ann Lee\" was written by Bob Ray.",
       Told::kEqual},
      {"Ann Lee", "\"Written by Ann Lee\" was written by Bob Ray.",
       Told::kDifferent},
      {"Bach", "It was composed by Bach, not Handel.", Told::kEqual},
      {"Handel", "It was composed by Bach, not Handel.", Told::kDifferent},
      {"Bach", "It was composed by Bach or Handel.", Told::kDifferent},
      {"Tokyo", "The games were to be held in Tokyo.", Told::kDifferent},
      {"Bob Ray", "The song was written by Ann Lee. It was sung by Bob Ray.",
       Told::kDifferent},
      {"Rome", "Rome lies in Italy.", Told::kDifferent},
      {"Newton", "It was invented by Leibniz, who was younger than Newton.",
       Told::kDifferent},
      {"Marie Curie", "Radium was not discovered by Marie Curie.",
       Told::kDifferent},
      {"Marie Curie", "It was discovered by the husband of Marie Curie.",
       Told::kDifferent},
      {"Jane Austen", "It was inspired by Jane Austen.", Told::kDifferent},
      {"Jane Austen", "It is said that it was written by Jane Austen.",
       Told::kDifferent},
      {"Gustave Eiffel",
       "The tower was designed by Gustave Eiffel. Actually, it was Ann Lee.",
       Told::kDifferent},
      {"Princeton", "He was born in Ulm and died in Princeton.",
       Told::kDifferent},
      {"Ulm", "His father was born in Ulm.", Told::kDifferent},
      {"Geneva", "It is headquartered near Geneva, Switzerland.",
       Told::kDifferent},
  });
}

TEST(NamesSaidInAnswers, SubjectsAndPredicates) {
  ExpectVerdicts({
      {"Paris", "Paris is the answer.", Told::kEqual},
      {"Isaac Newton", "Isaac Newton is the correct answer.", Told::kEqual},
      {"Nile", "The longest river is the Nile, at about 6,650 km.",
       Told::kEqual},
      {"Everest", "The highest mountain is Mount Everest, at 8,849 m.",
       Told::kEqual},
      {"Paris", "Paris is not the answer.", Told::kDifferent},
      {"France", "The capital of France is the answer.", Told::kDifferent},
      {"Amazon", "The longest river is the Nile, with the Amazon second.",
       Told::kDifferent},
      {"Rome", "The capital is Milan, where Rome is the second city.",
       Told::kDifferent},
      {"Alps", "The Swiss Alps", Told::kDifferent},
      {"Nile", "The Blue Nile", Told::kDifferent},
  });
}

TEST(NamesSaidInAnswers, ShortFormsAndCountries) {
  ExpectVerdicts({
      {"Tungsten", "Tungsten (W)", Told::kEqual},
      {"Tungsten", "The element is tungsten (W).", Told::kEqual},
      {"Au", "Gold (Au)", Told::kEqual},
      {"WHO", "World Health Organization (WHO)", Told::kEqual},
      {"DNA", "deoxyribonucleic acid (DNA)", Told::kEqual},
      {"water", "water (H2O)", Told::kEqual},
      {"Paris", "It's Paris, France.", Told::kEqual},
      {"Tungsten", "The answer is **Tungsten (W)**.", Told::kEqual},
      {"Paris", "**Paris, France**", Told::kEqual},
      {"Titanium", "Titanium (W)", Told::kDifferent},
      {"Ag", "Gold (Au)", Told::kDifferent},
      {"UNESCO", "World Health Organization (WHO)", Told::kDifferent},
      {"Ann", "Ann (NOT Bob)", Told::kDifferent},
      {"Paris", "It's Paris, Texas.", Told::kDifferent},
      {"Paris", "It's not Paris, France.", Told::kDifferent},
      {"Spain", "They are Spain, France.", Told::kDifferent},
  });
}

}  // namespace
}  // namespace espalier
