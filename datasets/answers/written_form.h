// What the writing of an answer says before it is read as a value.
//
//   OnlyWords("the sum")                   // true
//   SameIndexed("x_1", "x1")               // true
//   RoundedAway("7", "\\approx 7", "...")   // true
//   IsScientific("4.0e3")                  // true
//
// Stateless; linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WRITTEN_FORM_H_
#define ESPALIER_DATASETS_ANSWERS_WRITTEN_FORM_H_

#include <string_view>

namespace espalier {

// Whether the text is words and numbers, so that folding loses nothing.
bool OnlyWords(std::string_view text);

// Whether a clause that gives a reason or a time of before ends in the last of
// several clock times: "The train arrives at 8:15, since it left at 7:45."
bool EndsInOtherTime(std::string_view raw);

// Whether both are a letter with the same number as its index.
bool SameIndexed(std::string_view gold, std::string_view answer);

// Whether the part found in an answer is gold, an integer below 100, only
// after rounding.
bool RoundedAway(std::string_view gold, std::string_view found,
                 std::string_view answer);

// Whether it is a number in scientific notation, "4.0e3".
bool IsScientific(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WRITTEN_FORM_H_
