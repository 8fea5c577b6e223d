#include "datasets/tasks/python_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/programs/code_problem.h"
#include "datasets/programs/public_tests.h"
#include "datasets/sets/code_files.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/data_files.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kPrompt[] =
    "def double(x):\n"
    "    \"\"\"Twice x.\n"
    "    >>> double(2)\n"
    "    4\n"
    "    >>> [double(i)\n"
    "    ...  for i in (1, 2)]\n"
    "    [2, 4]\n"
    "    \"\"\"\n";

nlohmann::json Parsed(const char* text) { return nlohmann::json::parse(text); }

Reference GoldTests() {
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
  const Reference gold = GoldTests();
  const Verifier& hidden = *FindVerifier("python").value();
  EXPECT_FALSE(hidden.intrinsic());
  EXPECT_TRUE(PublicTestsVerifier().intrinsic());
  EXPECT_EQ(hidden.ForSearch(), &PublicTestsVerifier());
  EXPECT_EQ(PublicTestsVerifier().ForSearch(), &PublicTestsVerifier());
  EXPECT_TRUE(hidden.Ready().ok()) << hidden.Ready();
  EXPECT_TRUE(hidden.CanCheck(gold));
  EXPECT_FALSE(hidden.CanCheck({.answer = "42"}));
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

TEST(PythonTask, TheAnswerIsTheWholeProgram) {
  const auto Find = [](std::string_view response) {
    return PythonTask().FindAnswer(response).value_or("none");
  };
  EXPECT_EQ(Find("So:\n```\nn = 1\nprint(n)\n```\nIt prints 1."),
            "n = 1\nprint(n)");
  EXPECT_EQ(Find("n = int(input())\nprint(n)\n"), "n = int(input())\nprint(n)");
  EXPECT_EQ(Find("\n    return x\n\nprint(f(1))\n"), "\n    return x");
  EXPECT_EQ(Find(" \n"), "none");
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
              HasSubstr("at least one test"));
  EXPECT_THAT(Error({{"tests", {1}}}), HasSubstr("expected case 1 to have"));
  EXPECT_THAT(Error({{"tests", 7}}), HasSubstr("objects"));
  EXPECT_THAT(Error({{"tests", nlohmann::json::array()}}),
              HasSubstr("\"tests\": expected at least one case"));
  EXPECT_THAT(
      Error(Parsed(
          R"({"tests": [{"input": "1", "output": "1"}, {"input": 1}]})")),
      HasSubstr("case 2"));
  EXPECT_THAT(Error(Parsed(R"({"tests": [{"input": "1", "output": "1"}],
                       "public_tests": [{"input": "1"}]})")),
              HasSubstr("\"public_tests\": expected case 1"));
  EXPECT_THAT(Error(Parsed(R"({"tests": [{"input": "1", "output": "1",
                                          "testtype": "functional"}]})")),
              HasSubstr("function calls"));
  EXPECT_THAT(Error({{"input_output", "{"}}), HasSubstr("input_output"));
  EXPECT_THAT(Error({{"input_output", ""}}), HasSubstr("JSON in a text"));
  EXPECT_THAT(
      Error({{"input_output", {{"inputs", {"1"}}, {"outputs", {"1", "2"}}}}}),
      HasSubstr("as many outputs as inputs, found 2 and 1"));
  EXPECT_THAT(
      Error(Parsed(R"({"input_output": {"inputs": [1], "outputs": ["1"]}})")),
      HasSubstr("case 1"));
  EXPECT_THAT(Error(Parsed(R"({"input_output": {"fn_name": "f",
                               "inputs": [[1]], "outputs": [1]}})")),
              HasSubstr("fn_name"));
  EXPECT_THAT(Error(nlohmann::json::array()), HasSubstr("object"));
}

TEST(ReadCodeProblem, CasesComeAsPublishersWriteThem) {
  using Cases = std::vector<InputCase>;
  const auto Read = [](const char* text) {
    const auto problem = ReadCodeProblem(Parsed(text));
    EXPECT_TRUE(problem.ok()) << problem.status();
    return problem.ok() ? *problem : CodeProblem();
  };
  // APPS; some problems give inputs as lists of lines.
  const CodeProblem apps = Read(
      R"j({"question": "Q", "solutions": "[\"print(1)\", \"print(2)\"]",
          "input_output": "{\"inputs\": [\"1\\n\", [\"2\", \"3\"]], \"outputs\": [\"1\", \"5\"]}"})j");
  EXPECT_EQ(apps.cases, (Cases{{"1\n", "1"}, {"2\n3\n", "5"}}));
  EXPECT_TRUE(apps.public_cases.empty());
  EXPECT_EQ(SolutionProgram(apps), "print(1)");
  // CodeContests, with column names.
  const CodeProblem contests = Read(
      R"j({"question": "Q", "solutions": {"language": [3], "solution": ["p"]},
          "public_tests": {"input": ["1"], "output": ["2"]},
          "tests": {"input": ["3", "1"], "output": ["4", "2"]}})j");
  EXPECT_EQ(contests.public_cases, (Cases{{"1", "2"}}));
  EXPECT_EQ(contests.cases, (Cases{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(contests.solution, "");
  // LiveCodeBench, with column names.
  const CodeProblem live = Read(
      R"j({"question": "Q",
          "public_tests": "[{\"input\": \"1\", \"output\": \"2\", \"testtype\": \"stdin\"}]",
          "tests": "[{\"input\": \"3\", \"output\": \"4\", \"testtype\": \"stdin\"}]"})j");
  EXPECT_EQ(live.cases, (Cases{{"1", "2"}, {"3", "4"}}));
}

// A wrong program passes the public case.
TEST(PythonTask, ProgramsOfInputAndOutput) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const nlohmann::json record = Parsed(
      R"j({"id": "p/1", "Question": "Square a number.",
          "tests": [{"input": "3\n", "output": "9\n"}],
          "public_tests": [{"input": "2\n", "output": "4\n"}]})j");
  const auto set = LoadSet(WriteTestFile("input.jsonl", record.dump()), {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 1u);
  EXPECT_EQ(set->task, "python");
  const auto& [problem, reference] = set->problems[0];
  EXPECT_EQ(problem.id, "p/1");
  EXPECT_THAT(problem.question, HasSubstr("```\n4\n```"));
  EXPECT_THAT(problem.question, Not(HasSubstr("9")));
  const Verifier& hidden = *FindVerifier(set->task).value();
  const Verifier& shown = *hidden.ForSearch();
  EXPECT_TRUE(hidden.CanCheck(reference));
  const std::string right =
      "So:\n```python\nprint(int(input()) ** 2, ' ')\nprint()\n```\n";
  const std::string twice = "print(2 * int(input()))";
  EXPECT_TRUE(hidden.Check(problem, reference, right).correct);
  EXPECT_TRUE(shown.Check(problem, {}, right).correct);
  EXPECT_TRUE(shown.Check(problem, {}, twice).correct);
  EXPECT_EQ(hidden.Check(problem, reference, twice).reason,
            "failed, test 2: output line 1: expected \"9\", found \"6\"");
  EXPECT_THAT(shown.Check(problem, {}, "print(5)").reason,
              HasSubstr("expected \"4\", found \"5\""));
}

TEST(SameOutput, BlanksAtTheEndsDoNotCount) {
  EXPECT_TRUE(SameOutput("1\n2\n", "\n \n1 \n2"));
  EXPECT_TRUE(SameOutput("1", " 1\r\n\n"));
  EXPECT_FALSE(SameOutput("1\n2", "1\n 2"));
  EXPECT_FALSE(SameOutput("1\n2", "1\n\n2"));
  EXPECT_FALSE(SameOutput("1", ""));
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
