#include "datasets/answers/other_logic.h"

#include <gtest/gtest.h>

#include <string>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

bool Equal(const std::string& gold, const std::string& answer) {
  return GradeAnswer(gold, answer).equal;
}

TEST(OtherLogic, ConnectivesAreNotExchanged) {
  const char* pairs[][2] = {
      {"x<2\\text{ or }x>5", "\\boxed{x<2 \\text{ and } x>5}"},
      {"(-\\infty,1]\\cup[3,\\infty)", "x\\le1\\wedge x\\ge3"},
      {"p\\land q", "p\\lor q"},
      {"p \\wedge q \\vee r", "p\\vee q\\wedge r"},
      {"x=0 \\text{ or } y=0", "x=0 \\text{ and } y=0"},
      {"x>0\\land y>0", "x>0\\lor y>0"}};
  for (const auto& [gold, answer] : pairs) {
    EXPECT_FALSE(Equal(gold, answer)) << gold << " " << answer;
    EXPECT_TRUE(Equal(gold, gold));
  }
  // Both list the solutions.
  EXPECT_TRUE(Equal("x=1\\text{ or }x=2", "x = 1 and x = 2"));
  EXPECT_TRUE(Equal("2, 3", "2 or 3"));
}

TEST(OtherLogic, ArrowsSayDifferentThings) {
  EXPECT_FALSE(Equal("p\\iff q", "p\\implies q"));
  EXPECT_FALSE(Equal("p\\iff q", "q"));
  EXPECT_TRUE(Equal("p\\iff q", "p\\Leftrightarrow q"));
  EXPECT_TRUE(Equal("3", "x + 1 = 4 \\implies x = 3"));
  EXPECT_TRUE(Equal("D", "Only whales are mammals \u2192 **(D) whale**"));
}

TEST(OtherLogic, PartsOfComplexNumbersAreNotTheNumbers) {
  const char* pairs[][2] = {{"\\operatorname{Re}(z)", "\\boxed{z}"},
                            {"\\operatorname{Im}(z)", "0"},
                            {"\\Re z=0", "z=0"},
                            {"|z|^2", "z^2"},
                            {"|z|<1", "-1<z<1"},
                            {"|\\psi|^2", "\\psi^2"}};
  for (const auto& [gold, answer] : pairs) {
    EXPECT_FALSE(Equal(gold, answer)) << gold << " " << answer;
    EXPECT_FALSE(Equal(answer, gold)) << gold << " " << answer;
  }
  EXPECT_TRUE(Equal("\\operatorname{Re}(z)", "\\Re(z)"));
  EXPECT_TRUE(Equal("|x|^2", "x^2"));
  EXPECT_TRUE(Equal("5", "|A| = 5"));
}

TEST(OtherLogic, AFunctionOfALetterIsNoProduct) {
  for (const auto& [gold, answer] :
       {std::pair{"P(A)", "AP"}, {"P(2)", "2P"}, {"\\sigma(6)", "6\\sigma"}}) {
    EXPECT_FALSE(Equal(gold, answer)) << gold;
    EXPECT_FALSE(Equal(answer, gold)) << gold;
  }
  EXPECT_TRUE(Equal("x(x+1)", "x^2+x"));
}

TEST(OtherLogic, ChargesCount) {
  for (const auto& [gold, answer] :
       {std::pair{"Na", "Na-"}, {"Cl-", "Cl"}, {"OH-", "OH"}}) {
    EXPECT_FALSE(Equal(gold, answer)) << gold;
    EXPECT_FALSE(Equal(answer, gold)) << gold;
  }
}

// Names give the order of values, whichever way they are listed.
TEST(OtherLogic, NamesGiveTheOrder) {
  const char* other[][2] = {
      {"(x,y)=(3,4)", "(y,x)=(3,4)"}, {"(a,b,c)=(1,2,3)", "(c,b,a)=(1,2,3)"},
      {"x=1,y=2", "(y,x)=(1,2)"},     {"(a,b)=(1,2)", "(p,q)=(1,2)"},
      {"(3,4)", "y=3, x=4"},          {"(1,2)", "b=1,a=2"}};
  for (const auto& [gold, answer] : other) {
    EXPECT_FALSE(Equal(gold, answer)) << gold << " " << answer;
  }
  const char* same[][2] = {{"(x,y)=(3,4)", "(y,x)=(4,3)"},
                           {"(x,y)=(3,4)", "x=3, y=4"},
                           {"(3,4)", "y=4, x=3"},
                           {"(3,4)", "x=3, y=4"},
                           {"P=(3,4)", "(x,y)=(3,4)"}};
  for (const auto& [gold, answer] : same) {
    EXPECT_TRUE(Equal(gold, answer)) << gold << " " << answer;
  }
}

TEST(OtherLogic, AnAdjectiveTellsThingsApart) {
  const char* pairs[][2] = {
      {"the left lung", "The answer is the right lung."},
      {"the tall man", "the short man"},
      {"the Ming dynasty", "the Qing dynasty"},
      {"the second law of thermodynamics", "the first law of thermodynamics"},
      {"the positive root", "the negative root"},
      {"the red ball", "**Final answer:** the blue ball"}};
  for (const auto& [gold, answer] : pairs) {
    EXPECT_FALSE(Equal(gold, answer)) << gold << " " << answer;
    EXPECT_TRUE(Equal(gold, gold + std::string(".")));
  }
  EXPECT_TRUE(Equal("converges", "The series converges."));
}

TEST(OtherLogic, VerdictsThatDependAreNone) {
  const char* pairs[][2] = {
      {"False", "It is false that the statement is false."},
      {"False", "It is not true that the statement is false."},
      {"True", "The negation is true."},
      {"True", "The converse is true."},
      {"Yes", "Yes, if n is even"},
      {"Yes", "Yes, provided that n is even"},
      {"No", "No. 5"}};
  for (const auto& [gold, answer] : pairs) {
    EXPECT_FALSE(Equal(gold, answer)) << gold << " " << answer;
  }
  EXPECT_TRUE(Equal("Yes", "Yes, it is."));
  EXPECT_TRUE(Equal("False", "The statement is false."));
}

TEST(OtherLogic, ABoxThatNobodyClaimsIsNoAnswer) {
  for (const char* answer :
       {"The given (incorrect) solution claims \\boxed{5}.",
        "Wrong attempts: \\boxed{5}", "e.g. \\boxed{5}",
        "for example, \\boxed{5}", "~~\\boxed{5}~~ 6", "\\cancel{\\boxed{5}}",
        "\\boxed{5}\nEdit: 6.", "I guess randomly: \\boxed{5}",
        "Put it in a box, like \\boxed{5}"}) {
    EXPECT_FALSE(Equal("5", answer)) << answer;
  }
  EXPECT_FALSE(Equal("5", "\\boxed{6}\n\nThe final answer is 5"));
  EXPECT_FALSE(Equal("6", "\\boxed{6}\n\nThe final answer is 5"));
  EXPECT_TRUE(Equal("6", "\\boxed{6}\n\nThe final answer is 6"));
}

TEST(OtherLogic, GroupsAreNotWhatTheyHold) {
  EXPECT_FALSE(Equal("5 eggs", "5 boxes of eggs"));
  EXPECT_FALSE(Equal("5 shoes", "She has 5 pairs of shoes."));
  EXPECT_TRUE(Equal("5 eggs", "She has 5 eggs."));
}

}  // namespace
}  // namespace espalier
