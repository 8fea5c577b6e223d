// What a sentence without formulas concludes.
//
//   SaidInWords("The function is odd.")        // {"odd"}
//   ChoiceNamed("Hence option (B) is right.")  // 'B'
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_SENTENCE_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_SENTENCE_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// What the last sentence emphasises, states behind its verb, or concludes
// behind "therefore". Nothing from sentences that deny something.
std::vector<std::string> SaidInWords(std::string_view text);

// The single choice letter that a text names: "option B", "(B)"; 0 for none or
// several.
char ChoiceNamed(std::string_view text);

// What a font command holds, if that is a sentence without signs or has digits:
// "\\text{The function is even}", "\\text{5 units}"; else empty.
std::string WordsInFont(std::string_view text);

// The letter of the choice that the last sentence leaves or takes: "That leaves
// A.", "It cannot be A or B, so C."; else empty.
std::string_view ChoiceLeft(std::string_view text);

// The last sentence without the word "so" that it begins with, if it has no
// digits or formulas: "Hence the equation has no solution."; else empty.
std::string_view ConcludedInWords(std::string_view text);

// "Paris" of a last line "Final: Paris"; else empty.
std::string_view FinalLine(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_SENTENCE_H_
