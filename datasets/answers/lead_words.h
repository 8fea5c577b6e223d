// Words that lead to an answer, or tell it apart from another one.
//
//   WithoutContrast("13, not 12")                     // "13"
//   PartOfMore("the cube of the ", "answer is")       // true
//   GivesUp("The sum is 12. I cannot solve it.")      // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_LEAD_WORDS_H_
#define ESPALIER_DATASETS_ANSWERS_LEAD_WORDS_H_

#include <string_view>

namespace espalier {

// Whether a number stands here, behind signs of formulas and emphasis.
bool BeginsNumber(std::string_view text);

// "25, with a minus sign": whether words behind a number that an answer begins
// with may make another one of it.
bool NumberAltered(std::string_view answer);

// Without what an answer is told apart from.
std::string_view WithoutContrast(std::string_view text);

// Whether `mark` goes on with what stands in front of it, so that what is said
// is not said of the answer. A heading begins anew.
bool PartOfMore(std::string_view lead, std::string_view mark);

// Whether what stands behind an answer names another number that it may be:
// "or maybe 13".
bool Hedged(std::string_view behind);

// Whether the last sentence says that no answer was found.
bool GivesUp(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_LEAD_WORDS_H_
