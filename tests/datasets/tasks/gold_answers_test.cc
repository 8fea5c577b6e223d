// Records that accept several answers, and answers that cannot be judged.
#include "datasets/tasks/gold_answers.h"

#include <gtest/gtest.h>

#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

TEST(GoldAnswers, WhatTablesWriteForNoneIsNoGold) {
  const Verifier& qa = **FindVerifier("qa");
  const Verifier& stories = **FindVerifier("stories");
  for (const char* none : {"", " ", "N/A", "n/a", "#N/A", "null", "NaN", " - ",
                           "--", "\u2014", "?", "TBD"}) {
    EXPECT_FALSE(qa.CanCheck({.answer = none})) << none;
    EXPECT_FALSE(stories.CanCheck({.answer = none})) << none;
  }
  // The symbol of sodium, the answer to "Which?", a sign.
  for (const char* gold : {"NA", "Na", "None", "-1", "+", "0", "x - y"}) {
    EXPECT_TRUE(qa.CanCheck({.answer = gold})) << gold;
  }
  EXPECT_TRUE(
      qa.CanCheck({.answer = "N/A", .fields = {{"golds", R"(["N/A", "4"])"}}}));
}

TEST(GoldAnswers, OneOfSeveralIsEnough) {
  const std::string path =
      WriteTestFile("golds.jsonl",
                    R"j({"question": "A root of x^2-3x+2?", "golds": ["1", "2"]}
{"problem": "Half?", "golds": [0.5, "50%"]}
{"question": "2+2?", "answer": "4", "golds": ["four"]}
)j");
  const auto set = LoadSet(path, {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 3u);
  const Verifier& verifier = **FindVerifier(set->task);
  const auto right = [&](size_t i, const char* response) {
    const GradedProblem& graded = set->problems[i];
    return verifier.Check(graded.problem, graded.reference, response).correct;
  };
  EXPECT_TRUE(right(0, "The answer is 1."));
  EXPECT_TRUE(right(0, "\\boxed{2}"));
  EXPECT_FALSE(right(0, "\\boxed{3}"));
  EXPECT_TRUE(right(1, "\\boxed{1/2}"));
  EXPECT_TRUE(right(2, "The answer is four."));
  const GradedProblem& first = set->problems[0];
  EXPECT_EQ(verifier.Check(first.problem, first.reference, "\\boxed{3}")
                .reason.find("expected 1 or 2, found 3"),
            0u);
}

TEST(GoldAnswers, AListOfSomethingElseIsRefused) {
  for (const char* line : {R"j({"question": "q", "golds": [[1]]})j",
                           R"j({"question": "q", "golds": "1"})j",
                           R"j({"question": "q", "golds": {"a": 1}})j"}) {
    const auto set = LoadSet(WriteTestFile("bad.jsonl", line), {});
    ASSERT_FALSE(set.ok()) << line;
    EXPECT_NE(set.status().message().find("golds"), std::string::npos)
        << set.status();
  }
}

TEST(GoldAnswers, UndecidedIsNotRightAndSaysSo) {
  const Verifier& verifier = **FindVerifier("qa");
  const Verdict verdict =
      verifier.Check({}, {.answer = "1"}, "\\boxed{\\tanh(1000)}");
  EXPECT_FALSE(verdict.correct);
  EXPECT_TRUE(verdict.undecided);
  const Verdict wrong = verifier.Check({}, {.answer = "1"}, "\\boxed{2}");
  EXPECT_FALSE(wrong.correct);
  EXPECT_FALSE(wrong.undecided);
}

}  // namespace
}  // namespace espalier
