// Problems whose answer is a Python program, as their publishers have them.
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
//               test as well at Hugging Face's MBPP+, which has more tests
//   HumanEval-X task_id, prompt, declaration, test; Python only
//   EvalPlus    base_input, plus_input, canonical_solution (evalplus.h)
//   BigCodeBench  code_prompt, test, libs (bigcodebench.h)
//   CRUXEval    code, input, output (cruxeval.h)
//   input       question; tests or input_output; public_tests and solution or
//               solutions where there are such
//
// Cases of input and output are [{"input", "output"}, ...] or {"inputs": [...],
// "outputs": [...]}, as they are or as JSON in a text. So published sets read:
//
//   APPS           question, input_output, solutions; but no problems of calls
//                  (fn_name)
//   CodeContests   description as question, private_tests as tests,
//                  public_tests
//   LiveCodeBench  question_content as question, private_test_cases (as JSON,
//                  not compressed) as tests, public_test_cases as public_tests
//
// The tests know what the problem gives them, not what the program says that
// it is: HumanEval's see the prompt's own imports and helper functions, and
// the program's function by its entry point alone; MBPP's see the names that
// the published solution defines and they use, and its imports.
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
  // HumanEval: the beginning of the program. Else what is asked, in words.
  std::string prompt;
  // The published program, "" if none; kOutput and kArguments: what answers.
  std::string solution;
  std::vector<std::string> names;  // what tests call
  std::string given_code;          // PythonProgram's `given`
  std::string before, after;       // as in PythonProgram
  std::vector<std::string> tests;  // as in PythonProgram
  std::vector<InputCase> cases;    // of style kInput: public ones, then others
  std::vector<InputCase> public_cases;  // those that may be shown
  // kOutput: the call whose value is asked for. kArguments: the value.
  std::string given;
  bool plus =
      false;  // its tests are more than the first publisher's (EvalPlus)
};

// InvalidArgument says which column is missing or of a wrong type.
absl::StatusOr<CodeProblem> ReadCodeProblem(const nlohmann::json& fields);

// Whether two outputs are equal line by line, without blanks at the ends of
// lines and at both ends of the whole, as the published judges compare them.
bool SameOutput(std::string_view expected, std::string_view found);

// The published solution as a whole program.
std::string SolutionProgram(const CodeProblem& problem);

// What became of `program` against the problem's tests. With kInput, output
// is compared by SameOutput, and `test` is the number of the case.
absl::StatusOr<ProgramVerdict> GradeProgram(Sandbox& sandbox,
                                            const CodeProblem& problem,
                                            std::string_view program);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_CODE_PROBLEM_H_
