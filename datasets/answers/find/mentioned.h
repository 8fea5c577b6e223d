// Whether a text without a marked answer only mentions the number that would be
// read as its answer.
//
//   OnlyMentioned("The problem mentions 12 cats.", 21, 23)  // "problem
//   mentions" OnlyMentioned("He had 12. He ate some.", 7, 9)          // "He
//   ate some." OnlyMentioned("There are 12 cats.", 10, 12)             // "":
//   states it
//
// It does if the text refuses to answer or opens with another answer, if the
// sentence of the number repeats what is given or plans what is to be found, or
// if the text goes on behind a sentence that concludes nothing.
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_MENTIONED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_MENTIONED_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The words that show it, for the number at [start, end) of `text`; empty if
// the number is stated. `prose`: the number is one of words, not a formula.
std::string OnlyMentioned(std::string_view text, size_t start, size_t end,
                          bool prose);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_MENTIONED_H_
