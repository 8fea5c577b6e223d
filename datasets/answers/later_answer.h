// What a response says behind its answer that is another one.
//
//   SaidLater(" Wait, I forgot one. Actually it is 25.")      // "25"
//   ConcludesOther("\nTo conclude, the chance is 1/3.", "1/2")   // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_LATER_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_LATER_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// The number that is said instead of an answer that is taken back; nothing
// where none is sure.
std::optional<std::string> SaidLater(std::string_view behind);

// Whether one of the next sentences denies the answer, or corrects it to
// another number: "That is wrong.", "No, 25."
bool TakenBackLater(std::string_view behind, std::string_view answer);

// "12 +", "12 and": whether an answer ends in the middle.
bool CutOff(std::string_view answer);

// Whether the last sentence concludes with another number than `answer`.
bool ConcludesOther(std::string_view behind, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_LATER_ANSWER_H_
