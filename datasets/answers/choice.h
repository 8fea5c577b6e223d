// Letters of a multiple choice as responses write them.
//
//   std::string content;
//   ReadChoice("\\textbf{(C)}\\ 12", &content)   // 'C', content is "12"
//   ManyChoices("A, C and D")                     // "ACD"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_CHOICE_H_
#define ESPALIER_DATASETS_ANSWERS_CHOICE_H_

#include <string>
#include <string_view>

namespace espalier {

// The letter in upper case and what follows it; 0 where it is no choice.
char ReadChoice(std::string_view text, std::string* content);

// Where several choices are right, their letters in order; empty for other
// texts.
std::string ManyChoices(std::string_view text);

// The letter that a text holds alone but for its marks and "option": 'D' of
// "option **(D)**: "; 0 for other texts.
char LetterAlone(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CHOICE_H_
