#include "datasets/answers/last_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

struct ClaimPair {
  const char* gold;
  const char* answer;
};

TEST(LastClaims, AreWhatTheLastStatementSays) {
  EXPECT_THAT(LastClaims("The distance is at most 5, so x lies in [-2, 8]."),
              Contains("[-2, 8]"));
  EXPECT_THAT(LastClaims("Sorted:\n1st: Mel\n2nd: Eve\n3rd: Joe"),
              Contains("Mel, Eve, Joe"));
  EXPECT_THAT(LastClaims("So it does not follow.\n\nAnswer: invalid"),
              Contains("invalid"));
  EXPECT_THAT(LastClaims("| 2 1 |\n| 7 4 |"),
              Contains("\\begin{pmatrix} 2 & 1 \\\\ 7 & 4 \\end{pmatrix}"));
  EXPECT_THAT(LastClaims("The work is $W=\\int_0^x kx\\,dx=\\frac{kx^2}{2}$."),
              Contains("\\frac{kx^2}{2}"));
  EXPECT_THAT(LastClaims("{\"reasoning\": \"in 1215\", \"answer\": \"A\"}"),
              Contains("A"));
}

TEST(LastClaims, AreNoneOfWhatIsNotClaimed) {
  for (const char* text :
       {"Check: $W=\\int_0^x kx\\,dx=\\frac{kx^2}{2}$.", "Is x in [-2, 8]?",
        "x does not lie in [-2, 8].", "Tom says that x lies in [-2, 8].",
        "The answer is 3. Then x lies in [-2, 8].", "\\boxed{3}, x in [-2, 8]",
        "", " ", "\n", "=", "|", "Answer:", "{", "1st:"}) {
    EXPECT_THAT(LastClaims(text), IsEmpty()) << text;
  }
}

TEST(LastClaims, MakeRightResponsesEqual) {
  static constexpr ClaimPair kPairs[] = {
      {"\\left\\{ -\\frac{3}{2}, 5 \\right\\}",
       "Case 1: 4x - 7 = 13, thus x = 5.\nCase 2: 4x - 7 = -13, thus x = -3/2."
       "\n\nBoth values check out, so the solutions are 5 and -3/2."},
      {"\\frac{5\\sqrt{3}}{3}",
       "The short leg is the long leg divided by \u221a3: 5/\u221a3 = "
       "5\u221a3/3."},
      {"\\ln 2",
       "$$\\int_1^2 \\frac{dx}{x} = \\bigl[\\ln x\\bigr]_1^2 = \\ln 2 - \\ln 1 "
       "= "
       "\\ln 2 \\approx 0.693$$"},
      {"(3, -1)",
       "2x = 6, x = 3. Substituting back, y = -1. The solution is $(x,y) = "
       "(3,-1)$."},
      {"[-2, 5)",
       "Combining both, $-2 \\le x < 5$; in interval notation: $[-2,5)$."},
      {"y = 2x - 5",
       "It passes through (4, 3): y - 3 = 2(x - 4), or y = 2x - 5."},
      {"k=\\pm 6", "It must be zero: k\u00b2 - 36 = 0, so k = 6 or k = -6."},
      {"100\\pi \\text{ square meters}", "The area is A = 100\u03c0 m\u00b2."},
      {"apple banana cherry",
       "By first letter: a, b, c.\n\nSorted list: apple, banana, cherry"},
      {"invalid", "Some C isn't B. So it doesn't follow.\n\nAnswer: invalid"},
      // A letter for an option that gold writes out.
      {"C. Jainism", "Ahimsa is central to Jainism. **C** is correct."},
      {"C. O(n log n)",
       "So the worst case is O(n log n).\n\nOption C is correct."},
      {"A. A strike by workers", "It means a strike, so A is the answer."},
      {"C", "Option C is the best answer because the tone is not angry."},
      // Names in other forms.
      {"Mikhail Gorbachev", "It was Mikhail Sergeyevich Gorbachev."},
      {"J. R. R. Tolkien",
       "\"The Hobbit\" was written by John Ronald Reuel Tolkien."},
      {"Ludwig van Beethoven", "The sonata was composed by Beethoven."},
      {"Marie Curie", "It was Marie Sk\u0142odowska-Curie."},
      {"tungsten", "The element is W, i.e. tungsten (once called wolfram)."},
      {"Lake Baikal",
       "It's Lake Baikal in Siberia, Russia \u2014 about 1,642 m deep."},
      {"Madagascar", "Lemurs are found only on the island of Madagascar."},
  };
  for (const ClaimPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(LastClaims, MakeNoWrongResponseEqual) {
  static constexpr ClaimPair kPairs[] = {
      {"3", "$x = 2$ and $y = 3$"},
      {"y = 1", "x = 1"},
      {"7", "x = 1 = 7"},
      {"7", "There are $6$ solutions for $n=7$."},
      {"3/2", "$x = 1/2$ and $y = 3/2$"},
      {"Paris", "My first guess:\n\n**Paris**"},
      {"12", "Confidence: 12%"},
      {"C. Jainism", "C. Buddhism"},
      {"C. Jainism", "B is correct."},
      {"B. Yes", "Vitamin B is the answer."},
      {"A. Paris", "Hepatitis A is the right one."},
      {"A", "(A) and (C)"},
      {"A", "B\n\n\u2026 A is right."},
      {"bronze", "It's brass. (Copper with tin would be bronze.)"},
      {"Paris", "It is Rome. Lutetia would be Paris."},
      {"Wolfgang Amadeus Mozart", "It was composed by Leopold Mozart."},
      {"South Africa", "South West Africa"},
      {"Charles Darwin", "It was Charles Galton Darwin."},
      {"Iceland", "Reykjavik is the capital of Iceland."},
      {"Marie Curie",
       "It was Ir\u00e8ne Joliot-Curie, daughter of Marie Curie."},
  };
  for (const ClaimPair& pair : kPairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_FALSE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

// More words in capitals than a name has were read before their first one.
TEST(LastClaims, LongTitlesOverrunNothing) {
  const GradeVerdict verdict =
      GradeAnswer("Ann Lee", "It was written by Aa Bb Cc Dd Ee Ff Gg Hh.");
  EXPECT_FALSE(verdict.equal);
}

}  // namespace
}  // namespace espalier
