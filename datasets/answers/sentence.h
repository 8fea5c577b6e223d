// What a sentence without formulas concludes.
//
//   SaidInWords("The function is odd.")        // {"odd"}
//   ChoiceNamed("Hence option (B) is right.")  // 'B'
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_SENTENCE_H_
#define ESPALIER_DATASETS_ANSWERS_SENTENCE_H_

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

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_SENTENCE_H_
