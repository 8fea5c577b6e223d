// Votes on free text: what the grader calls equal is one vote.
#include <gtest/gtest.h>

#include <string>

#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

bool OneVote(const std::string& a, const std::string& b) {
  const Task& task = *FindTask("qa").value();
  const auto x = task.FindAnswer(a), y = task.FindAnswer(b);
  EXPECT_TRUE(x && y) << a << " | " << b;
  return x && y && (*x == *y || task.OneVote(*x, *y));
}

TEST(QaVotes, EqualAnswersAreOneVote) {
  const char* same[][3] = {
      {"\\boxed{2\\sqrt{2}}", "The answer is $2 \\sqrt{2}$.", "$2\\sqrt2$"},
      {"\\boxed{(1,2)}", "So it is $(1, 2)$.", "The answer is (1,\\ 2)."},
      {"\\boxed{\\frac{1}{2}}", "\\boxed{\\frac12}", "\\boxed{\\dfrac{1}{2}}"},
      {"\\boxed{x^2+1}", "\\boxed{1+x^2}", "The answer is $x^2 + 1$."},
      {"\\boxed{\\text{Friday}}", "The answer is Friday.", "friday"},
      {"The answer is (B).", "\\boxed{B}", "Answer: B"},
      {"#### 12", "The answer is twelve.", "\\boxed{12}"}};
  for (const auto& [a, b, c] : same) {
    EXPECT_TRUE(OneVote(a, b)) << a << " | " << b;
    EXPECT_TRUE(OneVote(b, c)) << b << " | " << c;
    EXPECT_TRUE(OneVote(c, a)) << c << " | " << a;
  }
}

TEST(QaVotes, OthersAreNot) {
  const char* different[][2] = {{"\\boxed{3}", "\\boxed{-3}"},
                                {"\\boxed{(1,2)}", "\\boxed{(2,1)}"},
                                {"\\boxed{2\\sqrt{2}}", "\\boxed{2\\sqrt{3}}"},
                                {"The answer is (B).", "The answer is (C)."},
                                // Undecided by the grader.
                                {"\\boxed{1}", "\\boxed{\\tanh(1000)}"},
                                {"\\boxed{x+1}", "\\boxed{x-1}"}};
  for (const auto& [a, b] : different) {
    EXPECT_FALSE(OneVote(a, b)) << a << " | " << b;
  }
}

}  // namespace
}  // namespace espalier
