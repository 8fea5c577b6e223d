// The verdict that a response states in other words than "yes" or "false"
// alone.
//
//   VerdictMeant("The statement is incorrect.")                 // "false"
//   VerdictMeant("Absolutely! Penguins are birds.")             // "yes"
//   VerdictMeant("Penguins are birds. Birds lay eggs. Yes.")    // "yes"
//   VerdictMeant("Tom says that the statement is incorrect.")   // ""
//
// Stateless; linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VERDICT_MEANT_H_
#define ESPALIER_DATASETS_ANSWERS_VERDICT_MEANT_H_

#include <string_view>

namespace espalier {

// "yes", "no", "true" or "false"; empty if it states none, or two.
std::string_view VerdictMeant(std::string_view text);

// `text`, if it is only a verdict of the other kind than `gold`, as one of its
// kind: "True" as "yes" for gold "no". Empty if it is anything else.
std::string_view VerdictAlone(std::string_view gold, std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VERDICT_MEANT_H_
