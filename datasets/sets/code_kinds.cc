#include "datasets/sets/code_kinds.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/input_examples.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

// The error in the tests, "" if none. Columns are found whatever their case,
// and copied to the names that the test runner expects.
std::string ReadTests(SetRecord& record,
                      std::initializer_list<const char*> columns,
                      CodeProblem& problem) {
  for (const char* column : columns) {
    const Json* value = FindColumn(record.fields, column);
    if (value == nullptr || record.fields.contains(column)) continue;
    Json copy = *value;
    record.fields[column] = std::move(copy);
  }
  absl::StatusOr<CodeProblem> read = ReadCodeProblem(record.fields);
  if (!read.ok()) return std::string(read.status().message());
  problem = *std::move(read);
  record.question = problem.prompt;
  record.solution = problem.solution;
  return "";
}

std::string ReadBigCode(SetRecord& record, const char* asked) {
  record.fields["prompt"] = ColumnText(record.fields, asked);
  CodeProblem problem;
  return ReadTests(record,
                   {"task_id", "complete_prompt", "code_prompt",
                    "canonical_solution", "entry_point", "test", "libs"},
                   problem);
}

std::string ReadCrux(SetRecord& record, const char* predict) {
  record.fields["predict"] = predict;
  CodeProblem problem;
  return ReadTests(record, {"code", "input", "output"}, problem);
}

}  // namespace

std::string ReadHumanEvalRecord(SetRecord& record) {
  CodeProblem problem;
  return ReadTests(
      record,
      {"task_id", "prompt", "canonical_solution", "entry_point", "test"},
      problem);
}

std::string ReadEvalPlusRecord(SetRecord& record) {
  CodeProblem problem;
  return ReadTests(record,
                   {"task_id", "prompt", "canonical_solution", "entry_point",
                    "base_input", "plus_input", "atol"},
                   problem);
}

std::string ReadHumanEvalXRecord(SetRecord& record) {
  CodeProblem problem;
  return ReadTests(
      record,
      {"task_id", "prompt", "declaration", "canonical_solution", "test"},
      problem);
}

std::string ReadBigCodeComplete(SetRecord& record) {
  return ReadBigCode(record, "complete_prompt");
}

std::string ReadBigCodeInstruct(SetRecord& record) {
  return ReadBigCode(record, "instruct_prompt");
}

std::string ReadCruxOutput(SetRecord& record) {
  return ReadCrux(record, "output");
}

std::string ReadCruxInput(SetRecord& record) {
  return ReadCrux(record, "input");
}

std::string ReadMbppRecord(SetRecord& record) {
  CodeProblem problem;
  std::string wrong = ReadTests(record,
                                {"text", "prompt", "code", "test_list",
                                 "test_setup_code", "test_imports", "test"},
                                problem);
  if (!wrong.empty()) return wrong;
  // As its authors prescribe: the tests give the function's name.
  absl::StrAppend(&record.question, "\nThe program must pass these tests:\n");
  for (const Json& test : record.fields["test_list"]) {
    absl::StrAppend(&record.question, test.get<std::string>(), "\n");
  }
  return "";
}

std::string ReadInputRecord(SetRecord& record) {
  CodeProblem problem;
  std::string wrong = ReadTests(record,
                                {"question", "tests", "input_output",
                                 "public_tests", "solution", "solutions"},
                                problem);
  if (!wrong.empty()) return wrong;
  if (absl::StripAsciiWhitespace(problem.prompt).empty())
    return "no text under \"question\"";
  record.question = InputQuestion(problem);
  return "";
}

}  // namespace espalier
