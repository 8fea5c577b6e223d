// The program in what a model wrote.
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

// What stands in the last fenced block (``` or ~~~); one that does not end
// goes to the end of the text. With `name`, the last block that defines it (as
// a function, a class or a variable), where there is one. Nothing without a
// block.
std::optional<std::string> FindCode(std::string_view response,
                                    std::string_view name = "");

// A function's continuation up to what follows the function: the first line,
// from the second on, that begins with "def ", "class ", "if __name__",
// "print", "@", "#", "assert ", a fence or "</". (Codex' stops and what models
// for chats write.)
std::string CutContinuation(std::string_view continuation);

// The whole program that `response` to `problem` stands for. A block is a
// program; of a HumanEval problem it follows the prompt, whose imports and
// helpers it may use. Without a block a response to a HumanEval problem
// continues its prompt, and any other is the program itself; what answers a
// problem of CRUXEval is found by cruxeval.h.
std::string ProgramOf(const CodeProblem& problem, std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_FIND_CODE_H_
