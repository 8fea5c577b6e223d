#include <gtest/gtest.h>

#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/find/restated.h"
#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

using Parts = std::vector<std::string>;

TEST(AnswerResultParts, EndOfALongerText) {
  EXPECT_EQ(ResultParts("z = (2 + i)(a)\n\n= 4 + 3i"), Parts{"4 + 3i"});
  EXPECT_EQ(ResultParts("Expanded.\nResult: `x**2 - log(x)`"),
            Parts{"x**2 - ln(x)"});
  EXPECT_EQ(
      ResultParts("|x| = -2.\nSo it has no solutions; none at all."),
      (Parts{"So it has no solutions; none at all", "So it has no solutions"}));
  EXPECT_EQ(ResultParts("Here's the answer:\n\n> **Paris**\n\nWould you like "
                        "to know more?"),
            Parts{"Paris"});
  for (const char* text :
       {"", "= 12", "12", "I first thought:\n\n**Paris**\n\nBut it is London.",
        "London\n\n**Paris**", "It is not\n\n**Paris**",
        "**Paris**\n\nThat's wrong, it's London.",
        "The answer is 13. So there.", "\\boxed{13}\nSo it is 12."}) {
    EXPECT_EQ(ResultParts(text), Parts{}) << text;
  }
}

TEST(AnswerResultParts, Names) {
  EXPECT_EQ(NameParts("Shakespeare, William"), Parts{"William Shakespeare"});
  EXPECT_EQ(NameParts("Canberra, Australia"), Parts{"Canberra"});
  EXPECT_EQ(NameParts("**Answer: Mt. Everest**"), Parts{"Mount Everest"});
  EXPECT_EQ(NameParts("Isaac Newton.\n\nHe was born in 1642."),
            Parts{"Isaac Newton"});
  for (const char* text : {"", "Rome", "Rome, Paris and Bonn", "rome, italy",
                           "Newton.\n\nHe was actually Leibniz.",
                           "Newton.\n\nLeibniz was younger."}) {
    EXPECT_EQ(NameParts(text), Parts{}) << text;
  }
}

TEST(AnswerResultParts, OtherWays) {
  EXPECT_EQ(LeftOver("B", "All options except B are wrong."), "B");
  EXPECT_EQ(LeftOver("B", "Every option but (B) is incorrect"), "B");
  for (const char* text : {"", "B", "All options except B are right.",
                           "All options except A are wrong.", "All but B"}) {
    EXPECT_EQ(LeftOver("B", text), "") << text;
  }
  EXPECT_EQ(WithoutContrasted("The answer is E, not D."), "The answer is E");
  EXPECT_EQ(WithoutContrasted("7, not 5"), "");
  EXPECT_EQ(WithoutContrasted("It is E, not what I said before"), "");
}

TEST(AnswerResultParts, ChemicalFormulas) {
  EXPECT_TRUE(SameFormula("H2O", "\\mathrm{H_2O}"));
  EXPECT_TRUE(SameFormula("Na+", "\\text{Na}^{+}"));
  EXPECT_TRUE(SameFormula("Fe^{2+}", "Fe2+"));
  for (const auto& [a, b] : {std::pair{"Na+", "Na-"},
                             {"N2", "N^2"},
                             {"H2O", "H_2O_2"},
                             {"x2", "x_2"},
                             {"Fe^{2+}", "Fe_{2}^{+}"},
                             {"CO2", "C_{O2}"},
                             {"NaCl", "Na_Cl"}}) {
    EXPECT_FALSE(SameFormula(a, b)) << a << " " << b;
  }
}

TEST(AnswerResultParts, Grades) {
  const struct {
    const char *gold, *answer;
  } kEqual[] =
      {
          {"4 + 3i",
           "z = (2 + i)(a) where ... we are asked for it.\n\n= 4 + 3i"},
          {"no solution", "|x| = -2.\n\nTherefore it has no solutions; none."},
          {"no solution", "So it has no solutions; the set is empty."},
          {"-40", "So the scales agree at minus 40 degrees."},
          {"oxygen", "Final answer: Oxygen (O)"},
          {"Isaac Newton", "Sir Isaac Newton.\n\nHe wrote it in 1687."},
          {"y = -x/2 + 4", "Through (2, 3).\n\nRearranged: x + 2y = 8"},
          {"1011_2", "1011 in base 2"},
          {"1969", "In July 1969"},
          {"yes", "A whale is a mammal.\nSo the answer to \"Is it?\" is yes."},
          {"E", "The answer is E, not D."},
          {"19.6 m/s", "So the speed is 19.6 m/s."},
          {"0.003", "0.3%"},
          {"200", "We cannot calculate this at once. The answer is 200."},
      },
    kOther[] = {
        {"200",
         "The question seems to be missing some information: 200 people can "
         "stand, but without the rows I cannot calculate the seats."},
        {"29.4 m/s", "v = 29.4\n\nSo the speed is 29.4 km/h."},
        {"22",
         "It doesn't contain enough information. It only states that 22 "
         "pupils were present."},
        {"0.3", "The share is 3/1000 = 0.3 %.\n\nAnswer: 0.3%"},
        {"1/4", "0.25%"},
        {"12%", "So the profit percentage is 0.12 %."},
        {"Paris", "Is it this?\n\n**Paris**\n\nNo, London."},
        {"E", "The answer is D, not E."},
        {"-40", "So it is x minus 40."},
        {"-40", "So it is 3 minus 40."},
        {"12", "x = 14.\n\nSo 12 is too small."},
    };
  for (const auto& row : kEqual) {
    EXPECT_TRUE(GradeAnswer(row.gold, row.answer).equal) << row.answer;
  }
  for (const auto& row : kOther) {
    EXPECT_FALSE(GradeAnswer(row.gold, row.answer).equal) << row.answer;
  }
}

}  // namespace
}  // namespace espalier
