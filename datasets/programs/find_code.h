// Finds the program in a model's response.
//
//   FindCode("Sure:\n```python\ndef f(x): ...\n```\nIt ...")   // def f(x): ...
//   CutContinuation("    return x\n\nprint(f(1))")              //     return x
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_FIND_CODE_H_
#define ESPALIER_DATASETS_PROGRAMS_FIND_CODE_H_

#include <optional>
#include <string>
#include <string_view>

#include "datasets/programs/code_problem.h"

namespace espalier {

// The content of the last fenced block (``` or ~~~); an unclosed one extends to
// the end of the text. With `name`, the last block that defines it (as a
// function, a class or a variable), if there is one. Nothing without a block.
std::optional<std::string> FindCode(std::string_view response,
                                    std::string_view name = "");

// A function's continuation up to the end of the function: stops at the first
// line, from the second on, that begins with "def ", "class ", "if __name__",
// "print", "@", "#", "assert ", a fence or "</". (Codex' stops and what chat
// models write.)
std::string CutContinuation(std::string_view continuation);

// The whole program that `response` to `problem` gives. A block is a program;
// for HumanEval it is appended to the prompt, whose imports and helpers it may
// use. Without a block, a response to HumanEval continues its prompt, and any
// other is the program itself; for CRUXEval, cruxeval.h finds the answer.
std::string ProgramOf(const CodeProblem& problem, std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_FIND_CODE_H_
