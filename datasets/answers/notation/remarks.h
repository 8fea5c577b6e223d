// Remarks next to an answer that do not change it.
//
//   "k\\pi, where k is an integer"   // k\\pi
//   "3 (double root)"                 // 3
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_NOTATION_REMARKS_H_
#define ESPALIER_DATASETS_ANSWERS_NOTATION_REMARKS_H_

#include <vector>

#include "datasets/answers/notation/lexer.h"

namespace espalier {

// Removes them; the first token always stays. Also rewrites "3+4j" and "E**x"
// of programs in the usual letters.
void DropRemarks(std::vector<Token>& tokens);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_NOTATION_REMARKS_H_
