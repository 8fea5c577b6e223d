// What a response says in its last statement, in the words in which an answer
// alone would stand.
//
//   Reworded("Roots: 2 and -3.", ...)                // "2 and -3"
//   Reworded("So x^2 - 9 = (x - 3)(x + 3).", ...)    // without "So"
//   Reworded("The claim is incorrect.", "False")     // "False"
//
// Each text says nothing that the response does not say: the words left out are
// a label, a conclusion's "so" or the left side of an equation whose right side
// is the result. Nothing that denies, doubts or attributes it is left out.
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_REWORDED_H_
#define ESPALIER_DATASETS_ANSWERS_REWORDED_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct RewordedPair {
  std::string gold, answer;
};

// The pairs to compare instead of `gold` and `answer`.
std::vector<RewordedPair> Reworded(std::string_view gold,
                                   std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_REWORDED_H_
