// An answer as its response spells it. Votes need one text per answer
// (Task::FindAnswer); a reader wants that of the response.
//
//   AnswerAsWritten("5833/10000", "... = .5833")      // ".5833"
//   AnswerAsWritten("1000", "It costs $1,000.")       // "1,000"
//   AnswerAsWritten("paris", "It is Paris.")          // "Paris"
//   AnswerAsWritten("3/4", "\\frac{3}{4}")             // "3/4"
//
// Stateless: thread-safe.
#ifndef ESPALIER_SRC_ENGINE_WRITTEN_ANSWER_H_
#define ESPALIER_SRC_ENGINE_WRITTEN_ANSWER_H_

#include <string>
#include <string_view>

namespace espalier {

// The last spelling of `answer` in `response`; `answer` itself if it is there,
// or if none is found.
std::string AnswerAsWritten(const std::string& answer,
                            std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_WRITTEN_ANSWER_H_
