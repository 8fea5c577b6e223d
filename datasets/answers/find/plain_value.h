// Values that a text states without formula markup.
//
//   SaidBehind(" is 6.")                        // "6", of "Here $x$ is 6."
//   LastLine("He walks.\n**15 minutes**")       // "15 minutes"
//   PlainValue("The lines meet at (2, -1).")    // "(2, -1)"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// What a plain sentence states about a formula in it, where `tail` is the text
// behind the formula. Empty if it states nothing.
std::string SaidBehind(std::string_view tail);

// The result of aligned lines that work a value out:
// "\\begin{aligned} S &= 1 + 2 \\\\ &= 3 \\end{aligned}" as "3". Other formulas
// unchanged.
std::string LastRow(std::string_view formula);

// "the 8th prime", "5 squared": words and one number that is not their value.
bool MakesAnother(std::string_view text);

// What a last sentence of words states without formula markup: a point or a
// value with signs that words do not have.
std::optional<std::string> PlainValue(std::string_view text);

// A last line that consists only of an answer.
std::optional<std::string> LastLine(std::string_view text);

// The content of a last fenced block, if it is one line.
std::optional<std::string> LastFence(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_VALUE_H_
