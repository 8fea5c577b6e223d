// Residue classes written with a letter for any integer: "x = 7k + 3, where k
// is any integer" is x \equiv 3 \pmod{7}.
//
//   WithCongruences("So x = 7k + 3 for any integer k.")
//       // "So x ≡ 3 (mod 7)."; in formulas, in commands
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_RESIDUE_CLASS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_RESIDUE_CLASS_H_

#include <string>
#include <string_view>

namespace espalier {

// Whether a text is a congruence.
bool IsCongruence(std::string_view text);

std::string WithCongruences(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_RESIDUE_CLASS_H_
