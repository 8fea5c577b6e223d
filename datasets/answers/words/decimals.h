// Decimals with a comma in place of the point, and thousands parted by points,
// as in much of Europe.
//
//   SameDecimal("2,5 kg", "2.5 kg")   // true
//   MayBeTwo("1,2")                   // true: or the numbers 1 and 2
//   DottedGroups("1.000.000")         // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_DECIMALS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_DECIMALS_H_

#include <string_view>

namespace espalier {

// Whether one has a decimal comma and the other the same digits, and no other
// unit. A comma between digits separates two numbers if the other side has no
// such decimal.
bool SameDecimal(std::string_view a, std::string_view b);

// Whether it may just as well be two numbers: with one digit behind the comma
// and no sign of currency.
bool MayBeTwo(std::string_view text);

// Whether it is digits in groups behind points, without a sign of currency.
bool DottedGroups(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_DECIMALS_H_
