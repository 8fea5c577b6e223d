// Signs and words beside a number that make another quantity of it: another
// currency, scale of temperature, power, era or number base. They are
// lost where the number of a sentence is read without its unit.
//
//   OtherMarks("£5", "It costs $5.", "5")         // true
//   OtherMarks("5", "It was in 5 BC.", "5")       // true
//   OtherMarks("£5", "She pays 5.", "5")          // false
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_MARKS_BESIDE_H_
#define ESPALIER_DATASETS_ANSWERS_MARKS_BESIDE_H_

#include <string_view>

namespace espalier {

// Whether what stands beside `number` in the two texts cannot mean the same
// quantity. Where only one has something, only if it changes a plain number.
bool OtherMarks(std::string_view gold, std::string_view answer,
                std::string_view number);

// The first number in `text`, with its decimals: "25" of "25^\\circ C".
std::string_view FirstNumeral(std::string_view text);

// Whether both are the same letters in another order, a capital among them:
// "Au" and "uA" are names, not products.
bool IsAnagram(std::string_view a, std::string_view b);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_MARKS_BESIDE_H_
