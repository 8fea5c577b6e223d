// Parts of a short response that say all of its answer: what the rest adds is
// a clause about a name, a question, a remark about the other choices, or the
// same value in other words.
//
//   WithoutClause("It was Ann Lee, who died in 1784.")   // "It was Ann Lee"
//   BehindQuestion("What is the answer? C.")             // "C."
//   SaidTwice("a half (50%)")                            // "a half", "50%"
//
// A part is a view into the text; empty if there is none. Stateless:
// thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_RESTATED_H_
#define ESPALIER_DATASETS_ANSWERS_RESTATED_H_

#include <string_view>
#include <utility>

namespace espalier {

// Without a clause at the end that only says more of the name in front of it.
std::string_view WithoutClause(std::string_view text);

// The name of "her older brother Tom".
std::string_view WithoutRole(std::string_view text);

// What follows a question that asks for the answer.
std::string_view BehindQuestion(std::string_view text);

// Without a last sentence that only rules out the others: "The answer is B. |
// All other options are wrong."
std::string_view WithoutOthers(std::string_view text);

// The verdict of "Actually yes."
std::string_view BehindCorrection(std::string_view text);

// Two parts that both give an answer, which is the text's if they agree.
std::pair<std::string_view, std::string_view> SaidTwice(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_RESTATED_H_
