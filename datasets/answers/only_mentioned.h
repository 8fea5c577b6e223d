// What a short response says in whose words the gold answer stands without
// being its answer: an equation that is still to be solved, a step with a
// wrong result, another one than the one in question, a second right choice.
//
//   OnlyMentioned("7", "So 2x + 3 = 7.")            // "2x + 3"
//   OnlyMentioned("Rome", "The second one is in Rome.")   // "the second one"
//   OnlyMentioned("A", "A is best, but B is also right.")   // "is also right"
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_ONLY_MENTIONED_H_
#define ESPALIER_DATASETS_ANSWERS_ONLY_MENTIONED_H_

#include <string>
#include <string_view>

namespace espalier {

// The words that make another answer of it; empty if there are none.
std::string OnlyMentioned(std::string_view gold, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_ONLY_MENTIONED_H_
