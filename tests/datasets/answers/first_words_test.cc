#include <gtest/gtest.h>

#include <vector>

#include "datasets/answers/grade_answer.h"
#include "datasets/answers/main_statement.h"

namespace espalier {
namespace {

enum class Says { kEqual, kDifferent, kOpen };

struct SaidPair {
  const char* gold;
  const char* answer;
  Says verdict;
};

void ExpectSaid(const std::vector<SaidPair>& pairs) {
  for (const SaidPair& pair : pairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_EQ(verdict.equal, pair.verdict == Says::kEqual)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
    EXPECT_EQ(verdict.undecided, pair.verdict == Says::kOpen)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(AnswerInFront, FriendlySentencesAround) {
  EXPECT_EQ(WithoutCourtesy("Great question! It is 5. Let me know if you need "
                            "more."),
            "It is 5.");
  EXPECT_EQ(WithoutCourtesy("It is 5. Let me know if it is 6."), "");
  EXPECT_EQ(WithoutCourtesy("Great question, but it is 5."), "");
  EXPECT_EQ(WithoutCourtesy("Great question!"), "");
  ExpectSaid({
      {"Neil Armstrong",
       "Great question! The first person to walk on the Moon was Neil "
       "Armstrong, on July 20, 1969, as part of the Apollo 11 mission. Let me "
       "know if you'd like to know more! 😊",
       Says::kEqual},
      {"Canberra",
       "Sure! The capital of Australia is Canberra. Let me know if you need "
       "more information.",
       Says::kEqual},
      {"Canberra",
       "Great question! The capital of Australia is Sydney. Let me know if you "
       "meant Canberra!",
       Says::kDifferent},
      {"Sydney",
       "Great question! The capital of Australia is Canberra, not Sydney. Let "
       "me know if you have any other questions!",
       Says::kDifferent},
  });
}

TEST(AnswerInFront, SecondVerbBehindAName) {
  ExpectSaid({
      {"Charles Dickens",
       "\"Great Expectations\" was written by Charles Dickens and was first "
       "published in serial form in 1860–61.",
       Says::kEqual},
      {"Leonardo da Vinci",
       "The Mona Lisa was painted by Leonardo da Vinci and is now displayed in "
       "the Louvre.",
       Says::kEqual},
      {"Gabriel García Márquez",
       "The novel *One Hundred Years of Solitude* was written by the Colombian "
       "author **Gabriel Garcia Marquez**, first published in 1967.",
       Says::kEqual},
      {"David Lean",
       "It was written by Charles Dickens and was later filmed by David Lean.",
       Says::kDifferent},
      {"Charles Dickens",
       "It was written by Charles Dickens and Wilkie Collins and was published "
       "in 1857.",
       Says::kDifferent},
      {"Charles Dickens",
       "It was not written by Charles Dickens and was first published in 1860.",
       Says::kDifferent},
  });
}

TEST(AnswerInFront, MeaningOfASymbol) {
  ExpectSaid({
      {"Gold",
       "\"Au\" comes from the Latin word *aurum*. It is the chemical symbol "
       "for gold.",
       Says::kEqual},
      {"World Health Organization", "WHO stands for World Health Organization.",
       Says::kEqual},
      {"sodium",
       "\"Na\" comes from *natrium*. It's the chemical symbol for sodium.",
       Says::kEqual},
      {"Silver", "Au is the chemical symbol for gold.", Says::kDifferent},
      {"Gold", "Au is not the chemical symbol for gold.", Says::kDifferent},
  });
}

TEST(AnswerInFront, VerdictWithAnExplanation) {
  ExpectSaid({
      {"no",
       "<think>\nHe died in 322 BC. So no.\n</think>\nNo. Aristotle died more "
       "than two thousand years before the laptop was invented.",
       Says::kEqual},
      {"no",
       "<think>\nClearly not.\n</think>\nNo, the Great Wall isn't located in "
       "Japan.",
       Says::kEqual},
      {"no", "No! Sharks aren't mammals; they're fish.", Says::kEqual},
      {"no", "No it isn't. Sharks are fish.", Says::kEqual},
      {"no", "No: it doesn't fit.", Says::kEqual},
      {"yes", "Yes they do. Whales are mammals.", Says::kEqual},
      {"no", "No – penguins can't fly.", Says::kEqual},
      {"yes", "<think>yes</think>No. He died before.", Says::kDifferent},
      {"no", "<think>No.</think>\nYes. It's possible.", Says::kDifferent},
      {"no", "No. Actually, yes.", Says::kDifferent},
  });
}

TEST(AnswerInFront, NoSolutionInOtherWords) {
  ExpectSaid({
      {"\\text{no solution}", "No solution exists", Says::kEqual},
      {"\\emptyset", "No solutions exist.", Says::kEqual},
      {"no solution", "\\boxed{\\text{No solution exists}}", Says::kEqual},
      {"no solution", "No solution exists except x = 2.", Says::kDifferent},
      {"no solution", "One solution exists", Says::kDifferent},
      {"0", "No solution exists", Says::kDifferent},
  });
}

TEST(AnswerInFront, EquationsOfChemistryOnTheirOwnLines) {
  ExpectSaid({
      {"2H2 + O2 -> 2H2O",
       "Balancing gives:\n\n$$2\\,\\mathrm{H_2} + \\mathrm{O_2} \\rightarrow "
       "2\\,\\mathrm{H_2O}$$",
       Says::kEqual},
      {"2H2 + O2 -> 2H2O",
       "$2\\ \\mathrm{H_2} + \\mathrm{O_2} \\to 2\\ \\mathrm{H_2O}$",
       Says::kEqual},
      {"2H2 + O2 -> 2H2O",
       "$$\\mathrm{H_2} + \\mathrm{O_2} \\rightarrow \\mathrm{H_2O}$$",
       Says::kDifferent},
  });
}

TEST(AnswerInFront, WordsThatLeaveItOpen) {
  ExpectSaid({
      {"6", "252/42 = 6\n\nThey don't need six buses.", Says::kOpen},
      {"6", "252/42 = 6\n\nThey need six buses.", Says::kEqual},
      {"Denmark and Sweden", "Denmark or Sweden", Says::kOpen},
      {"Denmark and Sweden", "Sweden and Denmark", Says::kEqual},
      {"x \\equiv 3 \\pmod 7", "y = 7k + 3", Says::kOpen},
      {"x \\equiv 3 \\pmod 7", "x = 7k + 3", Says::kEqual},
      {"37.5%", "37.5 percentage points of", Says::kOpen},
      // An exchange of the sides finds no difference.
      {"1*T)here ar^e eight such integers.", "T)here ar^e eight such integers.",
       Says::kOpen},
  });
}

}  // namespace
}  // namespace espalier
