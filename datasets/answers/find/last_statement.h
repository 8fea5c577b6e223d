// The last statement of a response, and whether the response claims it.
//
//   LastStatementOf("It is 5 or 6. Roots: 2 and 3 \u2714")       // "Roots: 2
//   and 3" WithoutLeadWords("So roots: 2 and 3").said        // "2 and 3"
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_LAST_STATEMENT_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_LAST_STATEMENT_H_

#include <cstddef>
#include <string_view>

namespace espalier {

inline constexpr size_t kLongestLast = 240;

// Without marks that end a statement, also check marks and emoji; without
// bullets, emphasis and arrows in front of one.
std::string_view WithoutLastMarks(std::string_view text);
std::string_view WithoutFirstMarks(std::string_view text);

// What a sentence says, and its label.
struct LabelledPart {
  std::string_view said, label;
};

// Without "so" and a label in front.
LabelledPart WithoutLeadWords(std::string_view sentence);

// The last sentence of a text, without the marks at its end.
std::string_view LastStatementOf(std::string_view text);

// Whether nothing in a sentence turns what it says, and the whole text claims
// the part `said` of it.
bool Claims(std::string_view text, std::string_view sentence,
            std::string_view said);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_LAST_STATEMENT_H_
