// Answers whose parts must not change places, though numbers might: times of
// day, implications and maps, cross products, products of matrices.
//
//   OrderInDoubt("AB", "BA")         // why equal values are not yet equal
//   OrderInDoubt("12:30", "6:15")    // likewise
//   OrderInDoubt("2x", "x \\cdot 2") // "": nothing in doubt
//
// Stateless function: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WRITTEN_ORDER_H_
#define ESPALIER_DATASETS_ANSWERS_WRITTEN_ORDER_H_

#include <string>
#include <string_view>

namespace espalier {

// Why two answers that compare as equal may differ, because gold is of such a
// form and the answer has its letters, or its hours and minutes, in another
// order; empty if that is not so. Texts as read, with their LaTeX.
std::string OrderInDoubt(std::string_view gold, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WRITTEN_ORDER_H_
