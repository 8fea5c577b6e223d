#include "datasets/programs/input_examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/programs/public_tests.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The layouts are those of published sets; the problems are our own.
constexpr char kApps[] =
    "Add two numbers.\n\n-----Input-----\n\nTwo numbers a and b.\n\n"
    "-----Output-----\n\nTheir sum.\n\n"
    "-----Examples-----\nInput\n2 3\n\nOutput\n5\n\nInput\n1\n\n4\n\n"
    "Output\n5\n6\n\n\n\n-----Note-----\n\nIn the first example 2 + 3 = 5.\n";
constexpr char kAppsSample[] =
    "-----Input-----\nA number.\n-----Sample Input-----\n2 3\n\n"
    "-----Sample Output-----\n5\n\nTwo and three make five.\n";
constexpr char kCodeContests[] =
    "Add.\n\nInput\n\nThe first line has a and b.\n\nOutput\n\nPrint it.\n\n"
    "Examples\n\nInput\n\n2 3\n\n\nOutput\n\n5\n\n\nInput\n\n1 4\n\n\n"
    "Output\n\n5\n\nNote\n\nEasy.\n";
constexpr char kLiveCodeBench[] =
    "Add.\n\nInput\n\nThe input is given as:\na b\n\nOutput\n\nPrint it.\n\n"
    "Sample Input 1\n\n2 3\n\nSample Output 1\n\n5\n\nTwo and three.\n\n"
    "Sample Input 2\n\n1 4\n\nSample Output 2\n\n5\n\n";
constexpr char kFenced[] =
    "Example input:\n```text\n2 3\n\n```\nExample "
    "output:\n```\n\n5\n```\nSo.\n";

TEST(InputExamples, AreReadAsPublishersPrintThem) {
  EXPECT_THAT(
      InputExamples(kApps),
      ElementsAre(InputCase{"2 3\n", "5\n"}, InputCase{"1\n\n4\n", "5\n6\n"}));
  EXPECT_THAT(InputExamples(kAppsSample),
              ElementsAre(InputCase{"2 3\n", "5\n"}));
  const InputCase first{"2 3\n", "5\n"}, second{"1 4\n", "5\n"};
  EXPECT_THAT(InputExamples(kCodeContests), ElementsAre(first, second));
  EXPECT_THAT(InputExamples(kLiveCodeBench), ElementsAre(first, second));
  EXPECT_THAT(InputExamples(kFenced),
              ElementsAre(InputCase{"2 3\n\n", "\n5\n"}));
  EXPECT_THAT(InputExamples("## Sample Input:\r\n2\r\n## Sample Output:\r\n4"),
              ElementsAre(InputCase{"2\n", "4\n"}));
}

TEST(InputExamples, WordsOfInputsAreNoHeadings) {
  EXPECT_THAT(InputExamples("Example\n\nInput\n2\nexample\ninput\n\n"
                            "Output\nsample\n"),
              ElementsAre(InputCase{"2\nexample\ninput\n", "sample\n"}));
}

TEST(InputExamples, DescriptionsAreNone) {
  EXPECT_THAT(InputExamples(""), IsEmpty());
  EXPECT_THAT(InputExamples("Input\n\nA number.\n\nOutput\n\nIts square.\n"),
              IsEmpty());
  EXPECT_THAT(InputExamples("Example 1:\nInput: x = 3\nOutput: 9\n"),
              IsEmpty());
  EXPECT_THAT(InputExamples("Sample Input\n3\n"), IsEmpty());
  EXPECT_THAT(InputExamples("Sample Output\n3\n"), IsEmpty());
  EXPECT_THAT(InputExamples("Example\nInput\n\nOutput\n1\n"), IsEmpty());
}

TEST(InputQuestion, ShowsPublicCasesOnceAndTheyAreReadAgain) {
  CodeProblem problem{.style = CodeStyle::kInput, .prompt = "Echo."};
  problem.public_cases = {
      {"a\n\nb", "a\n\nb\n"}, {"", ""}, {"```\n", "`\n````\n"}};
  problem.cases = problem.public_cases;
  problem.cases.push_back({"hidden", "hidden"});
  const std::string text = InputQuestion(problem);
  EXPECT_THAT(text, HasSubstr("Echo.\n"));
  EXPECT_THAT(text, HasSubstr("standard input"));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
  EXPECT_THAT(InputExamples(text),
              ElementsAre(InputCase{"a\n\nb\n", "a\n\nb\n"}, InputCase{"", ""},
                          InputCase{"```\n", "`\n````\n"}));
  problem.prompt = kLiveCodeBench;
  problem.public_cases = {{"2 3", "5"}, {"7 7\n", "14\n"}};
  EXPECT_THAT(InputExamples(InputQuestion(problem)),
              ElementsAre(InputCase{"2 3\n", "5\n"}, InputCase{"1 4\n", "5\n"},
                          InputCase{"7 7\n", "14\n"}));
}

TEST(PublicTests, AreExamplesOfInputWhereNothingElseIsShown) {
  const CodeProblem shown = PublicTests(kApps);
  EXPECT_EQ(shown.style, CodeStyle::kInput);
  EXPECT_EQ(shown.cases.size(), 2u);
  EXPECT_TRUE(HasTests(shown));
  const CodeProblem function = PublicTests(
      std::string("def f(x):\n    \"\"\"") + kFenced + "    \"\"\"\n");
  EXPECT_EQ(function.style, CodeStyle::kHumanEval);
  EXPECT_FALSE(HasTests(function));
  EXPECT_FALSE(HasTests(PublicTests("Write a poem.")));
}

}  // namespace
}  // namespace espalier
