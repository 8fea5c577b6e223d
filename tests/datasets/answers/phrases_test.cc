#include "datasets/answers/words/phrases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/find/lead_words.h"
#include "datasets/answers/find/unit_beside.h"
#include "datasets/answers/grade.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

std::string Text(std::string_view pattern) { return std::string(pattern); }

TEST(Phrases, AreNotRepeated) {
  std::set<std::pair<Reading, std::string_view>> seen;
  for (const Phrase& phrase : AllPhrases()) {
    EXPECT_FALSE(phrase.pattern.empty());
    EXPECT_TRUE(seen.emplace(phrase.reading, phrase.pattern).second)
        << phrase.pattern;
  }
}

// The tests below go through the rows of the table: a row added to it is read
// without a change of any other file, or the test fails.
TEST(Phrases, NumeralsInTheTableAreRead) {
  for (const Reading reading : {Reading::kNumeral, Reading::kTens}) {
    for (const Phrase& word : Rows(reading)) {
      EXPECT_EQ(NumberInWords(word.pattern), Text(word.meaning));
    }
  }
  for (const Phrase& word : Rows(Reading::kScale)) {
    const std::string two = "2 " + Text(word.pattern);
    EXPECT_EQ(NumberInWords(two), "2*" + Text(word.meaning));
    EXPECT_TRUE(SameAnswerText("2*" + Text(word.meaning), two)) << two;
    std::string unit = " " + Text(word.pattern);
    EXPECT_EQ(TakeScale(unit).ToString(), Text(word.meaning));
  }
  for (const Phrase& word : Rows(Reading::kPart)) {
    EXPECT_EQ(NumberInWords("one " + Text(word.pattern)),
              "1/" + Text(word.meaning));
  }
}

TEST(Phrases, UnitsInTheTableAreRead) {
  for (const std::string_view name : Phrases(Reading::kUnit)) {
    const Unit unit = ReadUnit(" " + Text(name));
    EXPECT_TRUE(unit.known) << name;
    EXPECT_EQ(UnitBeside("It is 5 " + Text(name), "5"), " " + Text(name));
    for (const std::string_view more : Phrases(Reading::kMeasured)) {
      EXPECT_EQ(ReadUnit(Text(name) + " " + Text(more) + " it").dimension,
                unit.dimension)
          << name << " " << more;
    }
    for (const std::string_view more : Phrases(Reading::kUnitGoesOn)) {
      const std::string text = "It is 5 " + Text(name) + " " + Text(more);
      EXPECT_EQ(UnitBeside(text, "5"), "") << text;
    }
  }
  for (const std::string_view word : Phrases(Reading::kDirection)) {
    EXPECT_NE(ReadUnit("meters " + Text(word) + " north").dimension,
              ReadUnit("meters").dimension)
        << word;
  }
  for (const std::string_view word : Phrases(Reading::kNotUnit)) {
    EXPECT_EQ(UnitBeside("It is 5 " + Text(word), "5"), "");
  }
}

TEST(Phrases, TimesInTheTableAreRead) {
  for (const std::string_view month : Phrases(Reading::kMonth)) {
    EXPECT_EQ(DateOf(Text(month) + " 3"), Text(month) + " 3");
  }
  for (const std::string_view morning : Phrases(Reading::kMorning)) {
    EXPECT_EQ(TimeOfDay("5:20 " + Text(morning)), "5:20");
  }
  for (const std::string_view later : Phrases(Reading::kAfternoon)) {
    EXPECT_EQ(TimeOfDay("5:20 " + Text(later)), "17:20");
  }
}

TEST(Phrases, OtherNumbersInTheTableAreSeen) {
  for (const std::string_view joint : Phrases(Reading::kInsteadOf)) {
    EXPECT_EQ(WithoutContrast("12" + Text(joint) + "13"), "12") << joint;
  }
  for (const std::string_view mark : Phrases(Reading::kOrMaybe)) {
    EXPECT_TRUE(Hedged(Text(mark) + "13")) << mark;
  }
  for (const std::string_view end : Phrases(Reading::kCutOff)) {
    EXPECT_TRUE(CutOff("12" + Text(end))) << end;
  }
}

TEST(Phrases, MeaningsInTheTableAreRead) {
  for (const Phrase& phrase : Rows(Reading::kMeans)) {
    EXPECT_TRUE(SameAnswerText(phrase.meaning, phrase.pattern))
        << phrase.pattern;
  }
}

}  // namespace
}  // namespace espalier
