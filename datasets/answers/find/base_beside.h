// The base that a text names for digits which it gives without one.
//
//   BaseBeside("10 in binary is 1010.", "1010")       // 2
//   BaseBeside("\\boxed{52}_8", "52")                 // 8
//   BaseBeside("In base 9, it is 40.", "40")          // 9
//   BaseBeside("40 in base 9 is 36 in base 10", "36") // 0: names two
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_BASE_BESIDE_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_BASE_BESIDE_H_

#include <string>
#include <string_view>

namespace espalier {

// 0 if the text names no base, or several in words, or `digits` is no number.
int BaseBeside(std::string_view text, std::string_view digits);

// "0x2A" and "42 = 0x2A" as "2A_{16}", "0b101" as "101_{2}"; else empty.
std::string WithBaseBehind(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_BASE_BESIDE_H_
