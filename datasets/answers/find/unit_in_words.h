// Units in the words of a sentence, behind a number.
//
//   UnitInWords(" miles per hour on average")           // " miles per hour"
//   LargerPart("takes 2 hours and 30", 18, " minutes")   // 6
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_UNIT_IN_WORDS_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_UNIT_IN_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The unit in words behind a number: " minutes", " miles per hour". Empty if
// none is certain: "pounds" and "degrees" have two meanings each, and of
// "dollars a day" only a part would be read.
std::string UnitInWords(std::string_view behind);

// "takes 2 hours and | 30 minutes": start of the larger part of a quantity in
// two units; npos if none.
size_t LargerPart(std::string_view text, size_t start, std::string_view unit);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_UNIT_IN_WORDS_H_
