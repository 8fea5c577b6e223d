// Multiple-choice letters as responses write them.
//
//   std::string content;
//   ReadChoice("\\textbf{(C)}\\ 12", &content)   // 'C', content is "12"
//   ManyChoices("A, C and D")                     // "ACD"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_CHOICE_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_CHOICE_H_

#include <string>
#include <string_view>

namespace espalier {

// The letter in upper case, and what follows it; 0 if it is not a choice.
char ReadChoice(std::string_view text, std::string* content);

// The letters as they follow each other, if there are several choices, none
// twice; else empty.
std::string ManyChoices(std::string_view text);

// The letter, if the text is only a letter with markup and "option": 'D' for
// "option **(D)**: "; else 0.
char LetterAlone(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_CHOICE_H_
