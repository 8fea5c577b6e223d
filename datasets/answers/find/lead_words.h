// Words that lead to an answer, or contrast it with another one.
//
//   WithoutContrast("13, not 12")                     // "13"
//   PartOfMore("the cube of the ", "answer is")       // true
//   GivesUp("The sum is 12. I cannot solve it.")      // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_LEAD_WORDS_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_LEAD_WORDS_H_

#include <string_view>

namespace espalier {

// Whether a number begins here, behind formula delimiters and emphasis.
bool BeginsNumber(std::string_view text);

// "25, with a minus sign": whether the words behind the number at the start of
// an answer may change it.
bool NumberAltered(std::string_view answer);

// Without what the answer is contrasted with.
std::string_view WithoutContrast(std::string_view text);

// "2 sqrt(5), approximately 4.47": without a decimal behind an exact value that
// only says its size.
std::string_view WithoutRounded(std::string_view text);

// Whether `mark` continues the text in front of it, so that it is not about the
// answer. A heading starts afresh.
bool PartOfMore(std::string_view lead, std::string_view mark);

// Whether the text behind an answer offers another number: "or maybe 13".
bool Hedged(std::string_view behind);

// Whether the last sentence says that no answer was found.
bool GivesUp(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_LEAD_WORDS_H_
