// The input/output examples that a problem shows: what a program reads and
// should write.
//
//   Example input:          InputExamples(question)
//   ```                       -> {{"2 3\n", "5\n"}}
//   2 3
//   ```
//   Example output:
//   ```
//   5
//   ```
//
// Also accepts the formats of APPS, CodeContests and LiveCodeBench: under
// "Sample Input 1" and "Sample Output 1", or, after a line "Example" or
// "Examples", under "Input" and "Output", with or without dashes and a colon
// around. Text behind an output and a blank line is taken for its explanation,
// unless the output is fenced.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_INPUT_EXAMPLES_H_
#define ESPALIER_DATASETS_PROGRAMS_INPUT_EXAMPLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/programs/code_problem.h"

namespace espalier {

// In order of appearance; each text ends with a line end, or is empty.
std::vector<InputCase> InputExamples(std::string_view question);

// The full question: the problem's own text, how the program gets its input,
// and the public cases that the text does not already show.
std::string InputQuestion(const CodeProblem& problem);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_INPUT_EXAMPLES_H_
