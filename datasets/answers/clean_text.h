// One spelling for the many in which models write the same mathematics.
//
//   CleanMath("\\left( 3\u00d74 \\right)")   // "( 3\times 4 )"
//   CleanMath("12,\\!000")                   // "12,000"
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_CLEAN_TEXT_H_
#define ESPALIER_DATASETS_ANSWERS_CLEAN_TEXT_H_

#include <string>
#include <string_view>

namespace espalier {

// Unicode signs become LaTeX commands, commands escaped twice become plain
// ones, sizes (\left, \big), styles and thin spaces go. `\$` becomes
// "\dollar". Bytes that are no UTF-8 become "?".
std::string CleanMath(std::string_view text);

// For comparing answers in words: lower case, no articles, no markup, no
// punctuation, one blank between words.
std::string FoldWords(std::string_view text);

// The length of "[4pt]" or "*[4pt]" behind the "\\\\" that ends a row of
// LaTeX, blanks in front included; 0 for what is no length.
size_t LineSkip(std::string_view text);

// Blanks at both ends gone.
std::string_view TrimBlanks(std::string_view text);

// The minus sign of mathematics and typographic apostrophes as those of ASCII.
// A response is written so before anything is looked for in it: phrases are
// found in a copy in lower case, whose places must be those of the text.
std::string WithPlainSigns(std::string_view text);

// Whether `name` is a command that the parser knows, without its backslash.
bool IsKnownCommand(std::string_view name);

// The longest known command that `name` begins with, of at least 2 letters;
// empty for none. "quadx" -> "quad".
std::string_view KnownCommandPrefix(std::string_view name);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CLEAN_TEXT_H_
