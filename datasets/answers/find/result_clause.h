// The result of a sentence that first says what it follows from.
//
//   ResultClause("Substituting $r = 2a$ in it, $F = kq^2/(4a^2)$.")
//       // "$F = kq^2/(4a^2)$"
//   ResultClause("It is $2r$, which gives a length of 8.")
//       // "We get a length of 8."
//   ResultClause("Adding gives a final answer of 8.")  // "The answer is 8."
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_RESULT_CLAUSE_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_RESULT_CLAUSE_H_

#include <string>
#include <string_view>

namespace espalier {

// Empty if the sentence has another form.
std::string ResultClause(std::string_view sentence);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_RESULT_CLAUSE_H_
