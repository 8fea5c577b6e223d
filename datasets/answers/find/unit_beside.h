// The unit that a response writes behind its number, when the number was read
// without it: behind a box, a formula, or in a sentence.
//
//   UnitBeside("It is \\boxed{20} km/h.", "20")        // " km/h"
//   UnitBeside("It costs $5.", "5")                    // " dollars"
//   UnitBeside("She earns 5 dollars an hour.", "5")    // "": only a part
//   UnitsApart("3 years", "three months")              // "years", "months"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_UNIT_BESIDE_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_UNIT_BESIDE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

// Behind the last occurrence of `number` in `response`; empty if no known unit
// is there.
std::string UnitBeside(std::string_view response, std::string_view number);

// Where `number` last occurs in `text` as no part of a longer number or word;
// npos if it does not.
size_t PlaceOfNumber(std::string_view text, std::string_view number);

// The different units that gold and an answer write behind the same number, of
// which at least one text gives it in words; nothing if the answer names gold's
// unit as well.
std::optional<std::pair<std::string, std::string>> UnitsApart(
    std::string_view gold, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_UNIT_BESIDE_H_
