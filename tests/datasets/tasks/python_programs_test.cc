#include "datasets/tasks/python_programs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "datasets/tasks/python_operations.h"
#include "datasets/tasks/python_task.h"
#include "tests/base/one_thread.h"
#include "tests/datasets/data_files.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

// What python3 prints for `program`, and its exit status.
std::pair<std::string, int> RunPython(const std::string& program) {
  const std::string path = WriteTestFile("program.py", program);
  FILE* pipe = popen(absl::StrCat("python3 -I ", path, " 2>&1").c_str(), "r");
  std::string out;
  std::array<char, 4096> piece{};
  for (size_t n; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    out.append(piece.data(), n);
  }
  return {out, pclose(pipe)};
}

// Python checks what C++ computed: the reference solutions pass the tests, and
// the examples in the questions hold as doctests.
TEST(PythonPrograms, ReferenceSolutionsPassTheirTestsInPython) {
  ESP_ONE_THREAD();
  std::string program = "import doctest\nn = 0\n";
  std::set<std::string> questions;
  int count = 0;
  for (const std::string_view band : PythonBands()) {
    for (uint64_t i = 0; i < 300; ++i, ++count) {
      const GradedProblem p = MakePythonProgram(band, i % 2 == 0 ? 1 : 2000, i);
      const auto& fields = p.reference.fields;
      questions.insert(p.problem.question);
      std::string response;
      for (const std::string& line : p.reference.steps) {
        absl::StrAppend(&response, line, "\n");
      }
      EXPECT_EQ(response, fields.at("canonical_solution"));
      EXPECT_EQ(fields.at("prompt"), p.problem.question);
      absl::StrAppend(&program, p.problem.question, response, fields.at("test"),
                      "check(", fields.at("entry_point"), ")\n",
                      "failed, tried = doctest.testmod()\n",
                      "assert failed == 0 and tried == 2\nn += 1\n");
    }
  }
  program += "print(n)\n";
  const auto [out, status] = RunPython(program);
  EXPECT_EQ(out, absl::StrCat(count, "\n"));
  EXPECT_EQ(status, 0);
  EXPECT_GT(questions.size(), static_cast<size_t>(count) * 95 / 100);
}

// Each operation by itself, on inputs that generated tests rarely have.
TEST(PythonPrograms, EveryOperationAgreesWithPython) {
  const std::vector<PythonValue> values = {int64_t{0},
                                           int64_t{-7},
                                           int64_t{10},
                                           int64_t{-120},
                                           int64_t{98765},
                                           int64_t{999999},
                                           "",
                                           " ",
                                           "a b  c",
                                           "Zz9 0",
                                           "  Ab",
                                           "eEiI",
                                           IntList{},
                                           IntList{5},
                                           IntList{-3, -3, 0, 7},
                                           IntList{100000, -100000, 4, 4},
                                           IntList{9, 8, 7, 6, 5, 4, 3, 2, 1}};
  std::string program;
  int count = 0;
  for (const PythonOperation& op : PythonOperations()) {
    for (const PythonValue& x : values) {
      if (static_cast<PythonType>(x.index()) != op.from) continue;
      for (int k = op.least_k; k <= op.most_k; ++k) {
        const auto result = op.run(x, k);
        if (!result) continue;
        std::string python(op.python);
        for (size_t at; (at = python.find("{k}")) != std::string::npos;) {
          python.replace(at, 3, std::to_string(k));
        }
        absl::StrAppend(&program, "x = ", PythonLiteral(x), "\nassert (",
                        python, ") == ", PythonLiteral(*result), "\n");
        ++count;
      }
    }
  }
  program += "print('all')\n";
  const auto [out, status] = RunPython(program);
  EXPECT_EQ(out, "all\n");
  EXPECT_GT(count, 1000);
}

TEST(PythonPrograms, BandsGrowAndTestsAreNotInTheQuestion) {
  size_t shortest = 0;
  for (const std::string_view band : PythonBands()) {
    size_t lines = 0;
    for (uint64_t i = 0; i < 50; ++i) {
      const GradedProblem p = MakePythonProgram(band, 1, i);
      lines += p.reference.steps.size();
      size_t asserts = 0;
      const std::string& test = p.reference.fields.at("test");
      for (size_t at = 0; (at = test.find("assert", at)) != std::string::npos;
           ++at) {
        ++asserts;
      }
      EXPECT_EQ(asserts, 10u);
      EXPECT_FALSE(absl::StrContains(p.problem.question, "check"));
    }
    EXPECT_GT(lines, shortest);
    shortest = lines;
  }
}

TEST(PythonPrograms, TheSandboxFindsReferencesRightAndOthersWrong) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const std::string_view band : PythonBands()) {
    const GradedProblem p = MakePythonProgram(band, 1, 0);
    EXPECT_EQ(PythonTask().Render(p.problem).value(), p.problem.question);
    const std::string& solution = p.reference.fields.at("canonical_solution");
    const Verdict right =
        PythonVerifier().Check(p.problem, p.reference, solution);
    EXPECT_TRUE(right.correct) << right.reason;
    EXPECT_FALSE(PythonVerifier()
                     .Check(p.problem, p.reference, "    return 77\n")
                     .correct);
    EXPECT_TRUE(PublicTestsVerifier().Check(p.problem, {}, solution).correct);
  }
}

}  // namespace
}  // namespace espalier
