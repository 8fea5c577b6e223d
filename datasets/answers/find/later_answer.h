// Finds answers behind the stated one that contradict it.
//
//   SaidLater(" Wait, I forgot one. Actually it is 25.")      // "25"
//   ConcludesOther("\nTo conclude, the chance is 1/3.", "1/2")   // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_LATER_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_LATER_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// The number that replaces a retracted answer; nothing if none is certain.
std::optional<std::string> SaidLater(std::string_view behind);

// Whether one of the next sentences denies the answer, or corrects it to
// another number: "That is wrong.", "No, 25."
bool TakenBackLater(std::string_view behind, std::string_view answer);

// "12 +", "12 and": whether an answer is cut off.
bool CutOff(std::string_view answer);

// Whether the last sentence concludes with a number other than `answer`.
bool ConcludesOther(std::string_view behind, std::string_view answer);

// "3 * 8 = 24. He gave away 4. So 20 are left." for the number 24: whether the
// last sentence, or its last clause, states what came out with another number.
bool EndsInOther(std::string_view text, std::string_view number);

// The letter of the choice that a text ends in behind a new try: "(A) 20%...
// let me recheck: it is 25%, option (B)." 0 if it is nothing like it.
char ChoiceRechecked(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_LATER_ANSWER_H_
