// Values that a response names only to reject them, or to work the answer out
// with them: "6 rather than 5", "not A; it's C".
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_REJECTED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_REJECTED_H_

#include <string>
#include <string_view>

namespace espalier {

// The response without what its last sentence rejects or starts from, and
// without an explanation behind an answer on a line of its own. Empty if there
// is nothing to leave out. Stateless: thread-safe.
//
//   "So it is 6 rather than 5."        ->  "So it is 6."
//   "The answer isn't A; it's C."      ->  "it's C."
//   "Using $a = 2$ in it, $b = 7$."    ->  "$b = 7$"
//   "Answer: A\n\nExplanation: B ..."  ->  "Answer: A"
std::string WithoutRejected(std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_REJECTED_H_
