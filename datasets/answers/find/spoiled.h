// Words directly beside a value, inside what would be read as the answer, that
// are neither its unit nor a harmless remark.
//
//   SpoiledBy("7\\text{ (wrong)}")    // "wrong"
//   SpoiledBy("20 (base 7)")          // "base"
//   SpoiledBy("12 gross")             // "gross"
//   SpoiledBy("7\\text{ (apples)}")   // ""
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_SPOILED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_SPOILED_H_

#include <string>
#include <string_view>

namespace espalier {

// The word that makes the value in doubt, or another one; empty if none. Reads
// only short texts that begin with a number, or with a name that equals one.
std::string SpoiledBy(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_SPOILED_H_
