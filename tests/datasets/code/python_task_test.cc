#include "datasets/tasks/python_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "datasets/code/code_files.h"
#include "datasets/code/code_problem.h"
#include "datasets/code/public_tests.h"
#include "datasets/tasks/task_registry.h"
#include "tests/datasets/sandbox/test_sandbox.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPrompt[] =
    "def double(x):\n"
    "    \"\"\"Twice x.\n"
    "    >>> double(2)\n"
    "    4\n"
    "    >>> [double(i)\n"
    "    ...  for i in (1, 2)]\n"
    "    [2, 4]\n"
    "    \"\"\"\n";

Reference Gold() {
  return {.fields = {{"task_id", "T/1"},
                     {"prompt", kPrompt},
                     {"entry_point", "double"},
                     {"test", "def check(f):\n    assert f(21) == 42\n"}}};
}

TEST(PublicTests, AreTheQuestionsExamples) {
  const CodeProblem shown = PublicTests(kPrompt);
  EXPECT_THAT(
      shown.tests,
      ElementsAre(
          "run_example(\"double(2)\", \"4\")",
          "run_example(\"[double(i)\\n for i in (1, 2)]\", \"[2, 4]\")"));
  EXPECT_THAT(shown.names, ElementsAre("double"));
  EXPECT_THAT(PublicTests("Add.\nassert add(1, 2) == 3\n").tests,
              ElementsAre("assert add(1, 2) == 3"));
  EXPECT_TRUE(PublicTests("Write a poem.").tests.empty());
}

TEST(PythonTask, HiddenTestsJudgeAndPublicOnesAreIntrinsic) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const Problem problem{.id = "T/1", .question = kPrompt};
  const Reference gold = Gold();
  const Verifier& hidden = *FindVerifier("python").value();
  EXPECT_FALSE(hidden.intrinsic());
  EXPECT_TRUE(PublicTestsVerifier().intrinsic());
  const std::string right = "    return 2 * x\n";
  const std::string shown_only = "    return {1: 2, 2: 4}.get(x)\n";
  EXPECT_TRUE(hidden.Check(problem, gold, right).correct);
  EXPECT_FALSE(hidden.Check(problem, gold, shown_only).correct);
  EXPECT_THAT(hidden.Check(problem, gold, shown_only).reason,
              HasSubstr("assert f(21) == 42"));
  EXPECT_TRUE(PublicTestsVerifier().Check(problem, {}, right).correct);
  EXPECT_TRUE(PublicTestsVerifier().Check(problem, {}, shown_only).correct);
  EXPECT_FALSE(
      PublicTestsVerifier().Check(problem, {}, "    return x\n").correct);
  EXPECT_FALSE(hidden.Check(problem, {}, right).correct);
  const Reference listed{
      .fields = {{"text", "Add."},
                 {"test_list", R"(["assert add(1, 2) == 3"])"}}};
  const Problem words{.id = "2", .question = "Add."};
  const std::string add = "def add(a, b):\n    return a + b\n";
  EXPECT_TRUE(hidden.Check(words, listed, add).correct);
  EXPECT_FALSE(hidden.Check(words, listed, "def add(a, b): return 4").correct);
}

TEST(ReadCodeProblem, SaysWhatIsWrong) {
  const auto Error = [](nlohmann::json fields) {
    return std::string(ReadCodeProblem(fields).status().message());
  };
  EXPECT_THAT(Error({{"a", 1}}), HasSubstr("test_list"));
  EXPECT_THAT(Error({{"entry_point", "f"}, {"prompt", ""}}),
              HasSubstr("\"test\""));
  EXPECT_THAT(Error({{"entry_point", "f(), g"}, {"prompt", ""}, {"test", ""}}),
              HasSubstr("name of a function"));
  EXPECT_THAT(Error({{"text", ""}, {"test_list", {1}}}), HasSubstr("list of"));
  EXPECT_THAT(Error({{"text", ""}, {"test_list", nlohmann::json::array()}}),
              HasSubstr("a test or more"));
  EXPECT_THAT(Error({{"tests", {1}}}), HasSubstr("objects"));
  EXPECT_THAT(Error({{"input_output", "{"}}), HasSubstr("input_output"));
  EXPECT_THAT(
      Error({{"input_output", {{"inputs", {"1"}}, {"outputs", {"1", "2"}}}}}),
      HasSubstr("as many"));
  EXPECT_THAT(Error(nlohmann::json::array()), HasSubstr("object"));
}

TEST(GradeProgram, InputsAreComparedLineByLine) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto problem = ReadCodeProblem(
      {{"question", "Squares up to n."},
       {"input_output",
        "{\"inputs\": [\"2\\n\", \"3\\n\"], \"outputs\": [\"1\\n4\\n\", "
        "\"1\\n4\\n9\"]}"}});
  ASSERT_TRUE(problem.ok()) << problem.status();
  auto verdict = GradeProgram(
      *sandbox, *problem,
      "for i in range(1, int(input()) + 1):\n    print(i * i, end=' \\n')\n"
      "print()\n");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed) << verdict->message;
  verdict = GradeProgram(*sandbox, *problem, "print('1\\n4')");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_EQ(verdict->test, 2);
  EXPECT_THAT(verdict->message, HasSubstr("line 3: expected \"9\""));
}

}  // namespace
}  // namespace espalier
