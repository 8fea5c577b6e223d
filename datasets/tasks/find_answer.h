// Where free text says its answer.
//
//   LastBoxed("so \\boxed{\\frac{1}{2}}")        // \frac{1}{2}
//   LastNumber("3 plums and 4 pears, 7 in all")  // 7
//
// Texts are as the response has them; datasets/grade brings spellings of one
// answer together. Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_FIND_ANSWER_H_
#define ESPALIER_DATASETS_TASKS_FIND_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// What stands in the last \boxed{...} whose braces close; \{ and \} are no
// braces.
std::optional<std::string> LastBoxed(std::string_view text);

// What follows the last `mark` up to the end of its line, without blanks and
// colons before it. Nothing where the line ends there.
std::optional<std::string> AfterLast(std::string_view text,
                                     std::string_view mark);

// The last number as people write it: -1,234.5, 1/2.
std::optional<std::string> LastNumber(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_FIND_ANSWER_H_
