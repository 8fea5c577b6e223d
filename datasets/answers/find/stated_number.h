// The number that a sentence gives as its answer. A number counts only if it is
// stated: behind a verb such as "is" or a sign such as "=", or as the only
// number of a whole sentence. "at most 5", "from 1 to 12" and "5, not 7" state
// none; that of a remark such as "roughly 5" is uncertain.
//
//   FindStatedNumber("He has 12 apples left.")   // {"12", Trust::kStated}
//   FindStatedNumber("roughly 5")                // {"5", Trust::kDoubtful}
//   FindStatedNumber("anything but 12")          // {"", Trust::kNone}
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_STATED_NUMBER_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_STATED_NUMBER_H_

#include <string>
#include <string_view>

namespace espalier {

enum class Trust { kNone, kDoubtful, kStated };

struct StatedNumber {
  std::string text;
  Trust trust = Trust::kNone;
  // Whether a known verb or sign comes before it.
  bool by_verb = false;
  // Its unit in words, with a leading blank: " minutes". Empty if none.
  std::string unit = {};
};

// `introduced`: whether words such as "the answer:" came before.
StatedNumber FindStatedNumber(std::string_view text, bool introduced);

// A list and its count, if the words in front of it state the count; else both
// empty.
//
//   FindCountedList("There are 3 primes: 2, 3 and 5.")   // {"3", "2, 3, 5"}
struct CountedList {
  std::string count, items;
};
CountedList FindCountedList(std::string_view text);

// Start of the condition under which a sentence states its number, "evaluates
// to 10 | when x = 3", which is not an answer. The size if none.
size_t ConditionStart(std::string_view sentence);

// The number that the last of several sentences states in words, "so it took
// three days"; none if it holds digits.
StatedNumber StatedInWords(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_STATED_NUMBER_H_
