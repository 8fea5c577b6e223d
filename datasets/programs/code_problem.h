// Problems whose answer is a Python program, in their publishers' formats.
//
//   ESP_ASSIGN_OR_RETURN(CodeProblem problem, ReadCodeProblem(fields));
//   ESP_ASSIGN_OR_RETURN(
//       ProgramVerdict verdict,
//       GradeProgram(*sandbox, problem, problem.prompt + completion));
//
//   style       columns
//   HumanEval   task_id, prompt, entry_point, test; HumanEval+ in the original
//               format has the same ones
//   MBPP        task_id, text (or prompt), code, test_list, test_setup_code,
//               test_imports
//               also test in Hugging Face's MBPP+, which has more tests
//   HumanEval-X task_id, prompt, declaration, test; Python only
//   EvalPlus    base_input, plus_input, canonical_solution (evalplus.h)
//   BigCodeBench  code_prompt, test, libs (bigcodebench.h)
//   CRUXEval    code, input, output (cruxeval.h)
//   input       question; tests or input_output; optionally public_tests, and
//               solution or solutions
//
// Input/output cases are [{"input", "output"}, ...] or {"inputs": [...],
// "outputs": [...]}, directly or as JSON in a text. Published sets map to this
// as follows:
//
//   APPS           question, input_output, solutions; except call-based
//                  problems (fn_name)
//   CodeContests   description as question, private_tests as tests,
//                  public_tests
//   LiveCodeBench  question_content as question, private_test_cases (as JSON,
//                  not compressed) as tests, public_test_cases as public_tests
//
// The tests see only what the problem defines, not names that the program
// defines: HumanEval's see the prompt's own imports and helper functions, and
// the program's function only by its entry point; MBPP's see the names that the
// published solution defines and the tests use, and its imports.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_CODE_PROBLEM_H_
#define ESPALIER_DATASETS_PROGRAMS_CODE_PROBLEM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/programs/sandbox.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

enum class CodeStyle { kHumanEval, kMbpp, kInput, kOutput, kArguments };

struct InputCase {
  std::string input;
  std::string output;
  bool operator==(const InputCase&) const = default;
};

struct CodeProblem {
  std::string id;
  CodeStyle style = CodeStyle::kHumanEval;
  // HumanEval: the beginning of the program. Else the task in words.
  std::string prompt;
  // The published program, "" if none; for kOutput and kArguments the answer.
  std::string solution;
  std::vector<std::string> names;  // what tests call
  std::string given_code;          // PythonProgram's `given`
  std::string before, after;       // as in PythonProgram
  std::vector<std::string> tests;  // as in PythonProgram
  std::vector<InputCase> cases;    // of style kInput: public ones, then others
  std::vector<InputCase> public_cases;  // the ones that may be shown
  // kOutput: the call whose value is requested. kArguments: the value.
  std::string given;
  bool plus = false;  // has more tests than the original publisher (EvalPlus)
};

// InvalidArgument names the missing or mistyped column.
absl::StatusOr<CodeProblem> ReadCodeProblem(const nlohmann::json& fields);

// Whether two outputs are equal line by line, ignoring blanks at line ends and
// at both ends of the whole, as the published judges compare them.
bool SameOutput(std::string_view expected, std::string_view found);

// The published solution as a whole program.
std::string SolutionProgram(const CodeProblem& problem);

// The verdict on `program` under the problem's tests. With kInput, output is
// compared by SameOutput, and `test` is the number of the case.
absl::StatusOr<ProgramVerdict> GradeProgram(Sandbox& sandbox,
                                            const CodeProblem& problem,
                                            std::string_view program);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_CODE_PROBLEM_H_
