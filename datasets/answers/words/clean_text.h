// One spelling for the many in which models write the same mathematics.
//
//   CleanMath("\\left( 3\u00d74 \\right)")   // "( 3\times 4 )"
//   CleanMath("12,\\!000")                   // "12,000"
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_CLEAN_TEXT_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_CLEAN_TEXT_H_

#include <string>
#include <string_view>

namespace espalier {

// Replaces Unicode signs by LaTeX commands, unescapes commands escaped twice,
// and drops sizes (\left, \big), styles and thin spaces. `\$` becomes
// "\dollar". Bytes that are not UTF-8 become "?".
std::string CleanMath(std::string_view text);

// For comparing answers in words: lower case, no articles, markup or
// punctuation, one blank between words.
std::string FoldWords(std::string_view text);

// The length of "[4pt]" or "*[4pt]" behind the "\\\\" that ends a LaTeX row,
// including blanks in front; 0 if it is not a length.
size_t LineSkip(std::string_view text);

// Without blanks at both ends.
std::string_view TrimBlanks(std::string_view text);

// Replaces the mathematical minus sign, typographic apostrophes and the colons
// of "4{:}30" and "4\\!:\\!30" by ASCII; "$4:30$ PM" is "4:30 PM".
// Apply before searching a response: phrases are found in a lower-case copy
// whose offsets must match the text.
std::string WithPlainSigns(std::string_view text);

// Whether the parser knows the command `name`, without its backslash.
bool IsKnownCommand(std::string_view name);

// The longest known command, of at least 2 letters, that `name` begins with;
// empty if none. "quadx" -> "quad".
std::string_view KnownCommandPrefix(std::string_view name);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_CLEAN_TEXT_H_
