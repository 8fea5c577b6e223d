#include "datasets/programs/runnable_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "datasets/sets/code_files.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

using testing::HasSubstr;

CodeProblem Mbpp(const std::vector<std::string>& tests,
                 const std::string& code = "def add(a, b):\n  return a + b\n") {
  const nlohmann::json fields = {
      {"task_id", 1}, {"text", "Add."}, {"code", code}, {"test_list", tests}};
  auto problem = ReadCodeProblem(fields);
  EXPECT_TRUE(problem.ok()) << problem.status();
  return problem.value_or(CodeProblem());
}

TEST(RunnableTests, WhatCannotRunIsSaid) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::vector<CodeProblem> problems = {
      Mbpp({"assert add(1, 2) == 3"}),
      Mbpp({"assert.equal(add(1, 2), 3);", "console.log('ok')"}),
      Mbpp({"assert add(1, 2 == 3"}),
      Mbpp({"import no_such_module_at_all\nassert add(1, 2) == 3"}),
      Mbpp({"assert sum_of(1, 2) == 3"}), Mbpp({"assert add(1, 2) == three"}),
      Mbpp({"# add(1, 2) gives 3"}), Mbpp({""}), Mbpp({"add(1, 2)"}),
      // Without a published program the names of tests are the program's.
      Mbpp({"assert sum_of(1, 2) == 3"}, ""),
      Mbpp({"try:\n  import no_such_module_at_all\nexcept ImportError:\n  "
            "pass\nassert add(1, 2) == 3"}),
      Mbpp({"three = 3\nassert [add(1, x) for x in [2]] == [three]"}),
      Mbpp({std::string(3000, '(') + "1" + std::string(3000, ')')}),
      Mbpp({"assert (lambda x: x)(add(1, 2)) == 3"}), CodeProblem{}};
  const auto reasons = WhyTestsCannotRun(*sandbox, problems);
  ASSERT_TRUE(reasons.ok()) << reasons.status();
  ASSERT_EQ(reasons->size(), problems.size());
  EXPECT_EQ((*reasons)[0], "");
  EXPECT_THAT((*reasons)[1], HasSubstr("SyntaxError"));
  EXPECT_THAT((*reasons)[2], HasSubstr("assert add(1, 2 == 3"));
  EXPECT_THAT((*reasons)[3], HasSubstr("module no_such_module_at_all"));
  EXPECT_THAT((*reasons)[4], HasSubstr("sum_of"));
  EXPECT_THAT((*reasons)[5], HasSubstr("three"));
  EXPECT_EQ((*reasons)[6], "they check nothing");
  EXPECT_EQ((*reasons)[7], "they check nothing");
  EXPECT_EQ((*reasons)[8], "they check nothing");
  EXPECT_EQ((*reasons)[9], "");
  EXPECT_EQ((*reasons)[10], "");
  EXPECT_EQ((*reasons)[11], "");
  EXPECT_NE((*reasons)[12], "");
  EXPECT_EQ((*reasons)[13], "");
  EXPECT_EQ((*reasons)[14], "");
}

TEST(RunnableTests, PublishedTestsCanRun) {
  ESPALIER_NEED_DATA_AND_SANDBOX(sandbox);
  for (const char* file : {"HumanEval.jsonl.gz",
                           "HumanEvalPlus-OriginFmt.jsonl.gz", "mbpp.jsonl"}) {
    const auto problems = ReadCodeProblems(
        std::string(std::getenv("ESPALIER_DATA")) + "/code/" + file);
    ASSERT_TRUE(problems.ok()) << problems.status();
    const auto reasons = WhyTestsCannotRun(*sandbox, *problems);
    ASSERT_TRUE(reasons.ok()) << reasons.status();
    for (size_t i = 0; i < reasons->size(); ++i) {
      EXPECT_EQ((*reasons)[i], "") << (*problems)[i].id;
    }
  }
}

TEST(RunnableTests, APublishedProgramThatFailsIsSaid) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto input =
      ReadCodeProblem({{"question", "Twice."},
                       {"tests", {{{"input", "2"}, {"output", "4"}}}},
                       {"solution", "print(3 * int(input()))"}});
  ASSERT_TRUE(input.ok()) << input.status();
  const std::vector<CodeProblem> problems = {
      Mbpp({"assert add(1, 2) == 3"}),
      Mbpp({"assert add(1, 2) == 4"}),
      Mbpp({"assert add(1, 2) == 4"}, ""),
      Mbpp({"add(1, 2)"}),
      *input,
      CodeProblem{}};
  const auto reasons = WhyTestsCannotJudge(*sandbox, problems);
  ASSERT_TRUE(reasons.ok()) << reasons.status();
  ASSERT_EQ(reasons->size(), problems.size());
  EXPECT_EQ((*reasons)[0], "");
  EXPECT_THAT((*reasons)[1],
              HasSubstr("the published solution does not pass them: failed, "
                        "test 1: assert add(1, 2) == 4"));
  EXPECT_EQ((*reasons)[2], "");  // there is none
  EXPECT_EQ((*reasons)[3], "they check nothing");
  EXPECT_THAT((*reasons)[4], HasSubstr("output line 1"));
  EXPECT_EQ((*reasons)[5], "");
}

}  // namespace
}  // namespace espalier
