#include "datasets/programs/find_code.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(FindCode, LastBlockCounts) {
  EXPECT_EQ(FindCode("a\n```python\nx = 1\n```\nb\n```\ny = 2\n```\nc"),
            "y = 2\n");
  EXPECT_EQ(FindCode("~~~py\nx = '```'\n```\n~~~\n"), "x = '```'\n```\n");
  EXPECT_EQ(FindCode("````\n```\nx\n```\n````"), "```\nx\n```\n");
  EXPECT_EQ(FindCode("```python\r\nx = 1\r\n```\r\n"), "x = 1\r\n");
  EXPECT_EQ(FindCode("no code"), std::nullopt);
  EXPECT_EQ(FindCode("```x``` is text"), std::nullopt);
  EXPECT_EQ(FindCode(""), std::nullopt);
}

TEST(FindCode, BlockThatDefinesTheNameGoesBefore) {
  const std::string text =
      "```\ndef f(x):\n    return x\n```\nTry it:\n```\nprint(f(1))\n```";
  EXPECT_EQ(FindCode(text, "f"), "def f(x):\n    return x\n");
  EXPECT_EQ(FindCode(text, "g"), "print(f(1))\n");
}

TEST(FindCode, BlockWithoutAnEndGoesOn) {
  EXPECT_EQ(FindCode("```python\nx = 1\ny = 2"), "x = 1\ny = 2");
  EXPECT_EQ(FindCode("```"), "");
}

TEST(CutContinuation, EndsBeforeWhatFollowsTheFunction) {
  for (const std::string stop :
       {"def g(x):\n    pass", "class A:\n    pass",
        "if __name__ == '__main__':\n    pass", "print(f(1))", "# Tests",
        "assert f(1) == 1", "```\nThis function", "@cache\ndef g(): pass"}) {
    EXPECT_EQ(CutContinuation("    y = 2\n\n    return y\n" + stop),
              "    y = 2\n\n    return y\n")
        << stop;
  }
  EXPECT_EQ(CutContinuation("    # one\n    print(x)\n    return 1"),
            "    # one\n    print(x)\n    return 1");
  EXPECT_EQ(CutContinuation(""), "");
}

CodeProblem Square() {
  CodeProblem problem;
  problem.style = CodeStyle::kHumanEval;
  problem.prompt = "import math\n\ndef square(x):\n    \"\"\"x * x\"\"\"\n";
  problem.before = problem.prompt + "\n    pass\n";
  problem.names = {"square"};
  return problem;
}

TEST(ProgramOf, HumanEvalTakesContinuationsAndWholePrograms) {
  const CodeProblem problem = Square();
  EXPECT_EQ(ProgramOf(problem, "    return x * x\n\nprint(square(2))\n"),
            problem.prompt + "    return x * x\n\n");
  EXPECT_EQ(
      ProgramOf(problem, "```python\ndef square(x):\n    return x * x\n```"),
      problem.before + "\ndef square(x):\n    return x * x\n");
  EXPECT_EQ(ProgramOf(problem, "Only the body:\n```\n    return x\n```\n"),
            problem.prompt + "    return x\n");
}

TEST(ProgramOf, OthersTakeTheBlockOrAllOfIt) {
  CodeProblem problem = Square();
  problem.style = CodeStyle::kMbpp;
  EXPECT_EQ(ProgramOf(problem, "def square(x):\n    return x * x\n"),
            "def square(x):\n    return x * x\n");
  EXPECT_EQ(ProgramOf(problem, "So:\n```\ndef square(x): pass\n```"),
            "def square(x): pass\n");
}

}  // namespace
}  // namespace espalier
