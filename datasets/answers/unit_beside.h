// The unit that a response writes behind its number, when the number was read
// without it: behind a box, a formula, or in a sentence.
//
//   UnitBeside("It is \\boxed{20} km/h.", "20")        // " km/h"
//   UnitBeside("It costs $5.", "5")                    // " dollars"
//   UnitBeside("She earns 5 dollars an hour.", "5")    // "": only a part
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_UNIT_BESIDE_H_
#define ESPALIER_DATASETS_ANSWERS_UNIT_BESIDE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// Behind the last occurrence of `number` in `response`; empty if no known unit
// is there.
std::string UnitBeside(std::string_view response, std::string_view number);

// Where `number` last occurs in `text` as no part of a longer number or word;
// npos if it does not.
size_t PlaceOfNumber(std::string_view text, std::string_view number);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_UNIT_BESIDE_H_
