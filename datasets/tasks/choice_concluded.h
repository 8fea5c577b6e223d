// The option of a multiple choice on which a response concludes, in other words
// than by its letter in brackets or behind "the answer is".
//
//   ChoiceConcluded({"gravity", "friction"}, "It opposes motion, so B.")   // 1
//   ChoiceConcluded({"steel", "air"}, "Thus steel is the right choice.")   // 0
//   ChoiceConcluded({"steel", "air"}, "Is it steel?")   // 2: none
//
// Stateless; looks at the last line of a bounded length: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_CHOICE_CONCLUDED_H_
#define ESPALIER_DATASETS_TASKS_CHOICE_CONCLUDED_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// The index of the option; the number of options if there is none.
size_t ChoiceConcluded(const std::vector<std::string>& options,
                       std::string_view response);

// Whether the last sentence names an option as another one than the answer:
// "One distractor is friction."
bool NamesOtherChoice(std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_CHOICE_CONCLUDED_H_
