// Answers in other words than gold's: labels, units, contrasts, corrections.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/choice_answer.h"

namespace espalier {
namespace {

struct SaidOtherwisePair {
  const char* gold;
  const char* answer;
};

void ExpectEqual(const std::vector<SaidOtherwisePair>& pairs) {
  for (const SaidOtherwisePair& pair : pairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

void ExpectNotEqual(const std::vector<SaidOtherwisePair>& pairs) {
  for (const SaidOtherwisePair& pair : pairs) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_FALSE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(StatedOtherwise, WhatIsLeftOrInTotal) {
  ExpectEqual({{"7", "7 apples are left"},
               {"12", "12 red balls are left."},
               {"12", "12 in total"},
               {"12", "12 of them"},
               {"12", "12 plums remained"},
               {"12 people", "12 persons"},
               {"3 children", "3 child"}});
  ExpectNotEqual({{"12", "12 are still missing"},
                  {"12", "12 is missing"},
                  {"12", "12 plums are rotten"},
                  {"12", "12 more plums are left"},
                  {"12", "12 dozen plums are left"},
                  {"12", "12 unknown remain"}});
}

TEST(StatedOtherwise, NumbersOfTheResponseItself) {
  for (const char* answer :
       {"Points: 12", "Marks: 12", "Grade: 12", "This took 12 steps.",
        "I am 12% sure.", "I am about 12% sure.", "We are 12% certain."}) {
    EXPECT_TRUE(GradeAnswer("12", answer).undecided) << answer;
  }
  EXPECT_TRUE(GradeAnswer("1/2", "0.5 percent").undecided);
  ExpectEqual({{"12", "It took 12 days."},
               {"1/2", "50 percent"},
               {"12", "Total points: 12, so the answer is 12."}});
}

TEST(UnitOtherwise, NamesWithPrefixes) {
  ExpectEqual({{"1.2 \\mu\\text{F}", "1.2 microfarads"},
               {"3 kJ", "3 kilojoules"},
               {"5 ms", "5 milliseconds"},
               {"5 mV", "5 millivolts"},
               {"5 MW", "5 megawatts"},
               {"5 nm", "5 nanometers"},
               {"2 kHz", "2000 hertz"},
               {"2 kilohertz", "2000 hertz"},
               {"4.0e3", "4000 J"},
               {"1.2e-5", "0.000012 m"}});
  ExpectNotEqual({{"3 kJ", "3 millijoules"},
                  {"3 kJ", "3 joules"},
                  {"5 MW", "5 milliwatts"},
                  {"5 ms", "5 microseconds"},
                  {"4.0e3", "400 J"}});
}

TEST(UnitOtherwise, BasesTimesAndDates) {
  ExpectEqual({{"2A_{16}", "0x2A"},
               {"2A_{16}", "0x2a"},
               {"101_2", "0b101"},
               {"17_8", "0o17"},
               {"17_8", "The result is 0o17."},
               {"7:30", "half past seven"},
               {"7:45", "quarter to eight"},
               {"9:45", "The train leaves at a quarter to ten."},
               {"8:15", "a quarter past eight"},
               {"May 29, 1953",
                "They reached the top on the 29th of May, 1953, a few days "
                "before the coronation."},
               {"July 4, 1776",
                "It was adopted on the 4th of July, 1776, in Philadelphia."}});
  ExpectNotEqual(
      {{"2A_{16}", "0x2B"},
       {"101_2", "0o101"},
       {"102_2", "0b102"},
       {"7:30", "half past eight"},
       {"9:45", "The train leaves at a quarter past ten."},
       {"9:45", "The train does not leave at a quarter to ten."},
       {"7:45", "quarter past seven"},
       {"May 29, 1953",
        "They reached it on the 29th of May, 1953, though some doubt it."},
       {"May 29, 1953",
        "They did not reach it on the 29th of May, 1953, but later."},
       {"May 28, 1953",
        "They reached it on the 29th of May, 1953, a Friday."}});
}

TEST(StatedOtherwise, ContrastsAndTheFirstOfSeveral) {
  ExpectEqual({{"Vienna", "It is Vienna, not Graz as some people think."},
               {"21", "Some forget one.\nThe number is thus not 20, but 21."},
               {"Ann", "Ann finished first, ahead of both Tom and Jenny."},
               {"Marie Curie",
                "Several people worked on it.\nThe notes on it, however, were "
                "written by Marie Curie, who moved to Paris in 1891."},
               {"odd", "$\\boxed{\\text{The function is odd}}$"},
               {"0", "There are none (zero)."}});
  ExpectNotEqual({{"Graz", "It is Vienna, not Graz as some people think."},
                  {"20", "The number is thus not 20, but 21."},
                  {"Tom", "Ann finished first, ahead of both Tom and Jenny."},
                  {"odd", "$\\boxed{\\text{The function is not odd}}$"},
                  {"even", "\\boxed{\\text{The square of it is even}}"},
                  {"Monday", "\\boxed{\\text{The day after is Monday}}"},
                  {"Ann", "Ann finished first, ahead of Tom, but lost it."},
                  {"16", "It is not 15, but 16 is not right either."},
                  {"1", "There are none (one)."}});
}

TEST(LaterAnswer, TheLastStatementOfAQuantityCounts) {
  const char* quotient =
      "The quotient is $x^2-3$. Let me check: $(x^2-3)(x-1)=x^3-x^2-3x+3$. "
      "That does not match.\nThe quotient is $x^2+3$.";
  const char* city =
      "It was signed in Rome. Actually, I confused it with another one, which "
      "was signed in 1919.\nFinal: Oslo";
  ExpectEqual({{"x^2+3", quotient},
               {"Oslo", city},
               {"no solution",
                "Squaring gives $x=9$. Substituting back: $\\sqrt{9} = -3$ is "
                "false, so $9$ is extraneous.\nHence the equation has no real "
                "solution."},
               {"Yes",
                "Suppose it did not. Then 2 would be odd.\nSo yes, such "
                "a number does exist."},
               {"2,3",
                "## Roots\nThe sum is 5.\n\n__Answer:__ *x* = 2 and *x* "
                "= 3"},
               {"3.3 \\times 10^{-19} J",
                "$E = hf$ gives $E=6.6\\times 10^{-34}\\cdot 5\\cdot "
                "10^{14}$\n**E = 3.3 × 10⁻¹⁹ J**"},
               {"12", "The sum is 12. Let me check: 5 + 7 = 12. Yes."}});
  ExpectNotEqual(
      {{"x^2-3", quotient},
       {"Rome", city},
       {"Oslo", "The answer is Rome.\nFinal: Oslo"},
       {"no", "The answer is $x=3$.\nSo no, that is not needed here."},
       {"5",
        "The sum is $7$. Check: with $x=1$, the sum is $6$. The sum is "
        "$5$ for $x=0$."},
       {"3", "The pair is $x=2$ and\n**y = 3**"},
       {"July 4, 1776",
        "It was two days after the fair on July 4, 1776, in Rome."},
       {"Oslo", "It was signed in Rome.\nFinal: not Oslo"},
       {"Oslo", "It was signed in Rome.\nFinal: Oslo?"},
       {"no solution",
        "Squaring gives $x=9$.\nSo perhaps it has no solution."}});
}

TEST(ChoiceAnswer, TheOneThatIsLeft) {
  const std::vector<std::string> options = {"10", "20", "30", "40", "50"};
  const auto picks = [&options](const char* letter, const char* response) {
    return CheckChoice(options, letter, response).correct;
  };
  EXPECT_TRUE(picks("A",
                    "Option B has the wrong sign and option C is "
                    "negative.\nThat leaves **A** as the only one."));
  EXPECT_TRUE(picks("E", "It cannot be A, B, C or D, so E."));
  EXPECT_TRUE(picks("C", "The last one is too big.\nSo I choose: C) 30."));
  EXPECT_TRUE(picks("C", "c."));
  EXPECT_TRUE(picks("C", "(c)"));
  EXPECT_TRUE(picks("C", "c) 30"));
  EXPECT_TRUE(picks("C", "option c"));
  EXPECT_TRUE(picks("C", "The answer is c."));
  EXPECT_TRUE(picks("D",
                    "Option A is negative, B and C diverge.\n"
                    "Therefore only D remains."));
  EXPECT_FALSE(picks("A",
                     "Option A is negative, B and C diverge.\n"
                     "Therefore only D remains."));
  EXPECT_FALSE(picks("B", "Not only B remains."));
  EXPECT_FALSE(picks("B", "It is false that only B remains."));
  EXPECT_FALSE(picks("C", "c) 20"));
  EXPECT_FALSE(picks("A", "a number of them"));
  EXPECT_FALSE(picks("B", "That leaves B, which fails as well."));
  EXPECT_FALSE(picks("B", "If I choose: B) 20, the sign is wrong."));
  EXPECT_FALSE(picks("C", "If it is not A, then B, so C."));
  EXPECT_FALSE(picks("C", "It isn't A, so C or D."));
  EXPECT_FALSE(picks("A", "It cannot be A, B, C or D, so E."));
  EXPECT_FALSE(picks("A", "Look at the signs.\nThat leaves A out."));
  EXPECT_FALSE(picks("A", "Look at the signs.\nThat leaves A or B."));
  EXPECT_FALSE(picks("E", "It cannot be A, B, C or D, so E?"));
  EXPECT_FALSE(CheckChoice({"a", "b", "d", "c"}, "C", "c").correct);
}

TEST(StatedOtherwise, PartsAndBases) {
  ExpectEqual({{"0.25", "a quarter (25%)"},
               {"1/3", "The answer is a third."},
               {"45", "45, and not 40"},
               {"Paris", "Paris, and not Lyon"},
               {"255", "255 = 0xFF"},
               {"0xFF", "255 = 0xFF"},
               {"10", "10 = 0b1010"}});
  ExpectNotEqual({{"0.25", "a quarter (20%)"},
                  {"3", "a third"},
                  {"40", "45, and not 40"},
                  {"45", "45 and 40"},
                  {"255", "254 = 0xFF"},
                  {"1010", "10 = 0b1010"}});
}

TEST(StatedOtherwise, SeveralValuesAreNotOne) {
  ExpectEqual({{"x = 2, y = 3", "**x = 2**\n**y = 3**"},
               {"5", "x = 2\ny = 3\nx + y = 5"},
               {"3", "x = 1\nx = 3"}});
  ExpectNotEqual({{"3", "**x = 2**\n**y = 3**"},
                  {"3", "So the solution is:\nx = 2\ny = 3"},
                  {"2", "- x = 2\n- y = 3"},
                  {"2", "\\(x = 1\\)\n\\(y = 2\\)"}});
}

TEST(StatedOtherwise, PartsOfAResultAndFigures) {
  ExpectEqual({{"12", "Final: 12"},
               {"12", "Subtotal: 8\nTotal: 12"},
               {"12", "My answer is 12."},
               {"95%", "The confidence level is 95%."},
               {"12", "The score is 12."}});
  ExpectNotEqual({{"12", "Semi-final: 12"},
                  {"12", "**Subtotal:** 12"},
                  {"12", "Pre-final answer: 12"},
                  {"12", "My confidence is 12."},
                  {"12", "My confidence in this is 12"},
                  {"12", "My own confidence is 12"},
                  {"12", "Confidence is 12"}});
}

TEST(StatedOtherwise, WhatIsMadeOfTheThing) {
  ExpectEqual({{"even", "So the function is even"},
               {"even", "The square of an even number is even."},
               {"even", "So the product of the numbers is even."},
               {"even", "Since its derivative is odd, the function is even."}});
  ExpectNotEqual({{"even", "So the square of the function is even"},
                  {"true", "The converse of the statement is true."},
                  {"even", "The derivative of f is even."}});
}

TEST(StatedOtherwise, ChoicesForAnotherReason) {
  const std::vector<std::string> options = {"1", "2", "3", "4"};
  for (const char* text : {"I choose B as my answer", "I choose B as the best.",
                           "I choose: B) 2", "I choose B."}) {
    EXPECT_TRUE(CheckChoice(options, "B", text).correct) << text;
  }
  for (const char* text :
       {"I choose B as a wrong example", "I pick B as my second choice.",
        "So I choose B as incorrect.", "Tom wrote: I choose: B) 2"}) {
    EXPECT_FALSE(CheckChoice(options, "B", text).correct) << text;
  }
}

}  // namespace
}  // namespace espalier
