// Values that a text states without the marks of formulas.
//
//   SaidBehind(" is 6.")                        // "6", of "Here $x$ is 6."
//   LastLine("He walks.\n**15 minutes**")       // "15 minutes"
//   PlainValue("The lines meet at (2, -1).")    // "(2, -1)"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_PLAIN_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_PLAIN_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// What a plain sentence says of a formula in it, `tail` being what stands
// behind the formula. Empty where it says nothing.
std::string SaidBehind(std::string_view tail);

// Of aligned lines that work a value out, what the last one says:
// "\\begin{aligned} S &= 1 + 2 \\\\ &= 3 \\end{aligned}" as "3". Other
// formulas as they are.
std::string LastRow(std::string_view formula);

// "the 8th prime", "5 squared": words and one number that is not what they say.
bool MakesAnother(std::string_view text);

// What the last sentence of words says without any: a point or a value with
// signs that words do not have.
std::optional<std::string> PlainValue(std::string_view text);

// A last line of its own that is an answer.
std::optional<std::string> LastLine(std::string_view text);

// The content of a last fenced block, if it is one line.
std::optional<std::string> LastFence(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_PLAIN_VALUE_H_
