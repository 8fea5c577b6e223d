#include "datasets/answers/find/bold_answer.h"

#include <gtest/gtest.h>

#include <vector>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

struct BoldPair {
  const char *gold, *answer;
};

void ExpectVerdict(const std::vector<BoldPair>& pairs, bool equal) {
  for (const BoldPair& pair : pairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_EQ(verdict.equal, equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(BoldAnswer, LastLines) {
  ExpectVerdict(
      {{"49\\pi", "A = \u03c0r\u00b2. Here r = 7.\n\n**49\u03c0**"},
       {"x=\\ln 5", "e^x = 5\nTake logs:\nx = 1.609\n\n**x = ln 5**"},
       {"y=2x+1", "m = 2\nb = 1\n\n**Equation of the line: y = 2x + 1**"},
       {"[2,5)", "Combine both. x < 5.\n\n**Solution: [2, 5)** \u2705"},
       {"3x^2+2", "Use the power rule. It is easy.\n\n**f'(x) = 3x^2 + 2**"},
       {"x>2", "3x > 6\n\n**So x > 2**"},
       {"Paris", "It lies on the Seine. It is large.\n\n**Paris**"},
       {"\\text{no solution}",
        "6 = 8\n\nThis is a contradiction. **The equation has no solution.**"},
       {"(3,2)", "Adding gives 2x = 6.\n\n**Solution: (3, 2)**"}},
      true);
  ExpectVerdict(
      {{"49\\pi", "A = \u03c0r\u00b2 = 49\u03c0 if r = 7.\n\n**64\u03c0**"},
       {"x=3", "Roots:\n**x = 2**\n**x = 3**"},
       {"3/4", "Finer: **(3, 4)**"},  // nothing stands behind the bold part
       {"y=2x+1", "m = 2\n\n**The slope of y = 2x + 1**"},
       {"y=2x+1", "m = 2\n\n**Is it y = 2x + 1?**"},
       {"36\\pi", "We get\n\n**about 36\u03c0 if r = 3**"},
       {"3/4", "P = 6/8\n\n**1 - 3/4**"},
       {"Paris", "My first guess:\n\n**Paris**"},
       {"x\\equiv 5 \\pmod{12}", "By CRT.\n\n**x \u2261 5 (mod 13)**"}},
      false);
}

TEST(BoldAnswer, OnePartOfAShortResponse) {
  ExpectVerdict(
      {{"true", "The claim is **true**. Ice is light, which is why it floats."},
       {"false", "This is **false**. Not all of them are; one is not."},
       {"H2O2", "It has the formula **H\u2082O\u2082** (two atoms each)."},
       {"Canberra", "It is **Canberra**. It is not Sydney, as many believe."},
       {"Ann Lee",
        "The novel was written by **Ann Lee** and published in "
        "1813. Its heroine is Eve."},
       {"Ann Lee", "*Ode* was written by **Ann Lee**, probably in 1599."},
       {"no", "**No** \u2014 a fish could not live in boiling water."}},
      true);
  ExpectVerdict(
      {{"false", "Bob thinks the claim is **false**. It is easy to check."},
       {"true", "The converse is **true**. But the claim itself is false."},
       {"yes", "**No** \u2014 a fish could not live in boiling water."},
       {"Sydney", "Many people think it's **Sydney**, but it is Canberra."},
       {"Sydney", "Although **Sydney** is the largest city, it is Canberra."},
       {"Sydney", "It is either **Sydney** or Perth."},
       {"Sydney", "It is not **Sydney** (a large city)."},
       {"Sydney", "It is **Sydney**. Actually, it is Canberra."},
       {"Australia", "The capital of **Australia** is Canberra."},
       {"Newton", "The law was stated by a student of **Newton**."},
       {"24", "He has **24** apples. He gives 8 away and keeps the rest."}},
      false);
}

TEST(BoldAnswer, PartsOfAList) {
  ExpectVerdict({{"\\{-2,5\\}",
                  "(x - 5)(x + 2) = 0\n\nThe solutions are **x = 5** and "
                  "**x = -2**."},
                 {"France and Spain",
                  "They separate **Spain** and **France** (and "
                  "Andorra)."}},
                true);
  ExpectVerdict(
      {{"-2",
        "(x - 5)(x + 2) = 0\n\nThe solutions are **x = 5** and "
        "**x = -2**."},
       {"Spain", "They separate **France** and **Spain** (and Andorra)."},
       {"France and Spain", "They separate **France** and **Italy**."}},
      false);
}

TEST(BoldAnswer, RemarksBehindTheAnswer) {
  ExpectVerdict(
      {{"2.7 g/cm^3",
        "**Answer:** It is 2.7 g/cm\u00b3. (For comparison, iron "
        "has 7.9 g/cm\u00b3.)"},
       {"3",
        "I first thought it was 4. But one is gone.\n\n9 / 3 = 3\n\nSo "
        "each child gets 3 slices. Sorry for the confusion!"}},
      true);
  ExpectVerdict({{"7.9 g/cm^3",
                  "**Answer:** It is 2.7 g/cm\u00b3. (For comparison, iron "
                  "has 7.9 g/cm\u00b3.)"},
                 {"5", "**Answer:** 12 cm. (This is about 5 inches.)"},
                 {"12", "**Answer:** 12 cm. (That is wrong, it is 13 cm.)"},
                 {"18", "So she pays $18 in all. Sorry, I meant $20."}},
                false);
}

TEST(BoldAnswer, NothingInOtherTexts) {
  for (const char* text : {"", "**", "****", "**a", "a\n**", "**a** **b**",
                           "\n**-**", "x\n** 3 **", "**a:** b"}) {
    EXPECT_FALSE(BoldLine(text).has_value()) << text;
    EXPECT_FALSE(BoldList(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace espalier
