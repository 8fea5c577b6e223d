// Remarks beside an answer that change nothing about it.
//
//   "k\\pi, where k is an integer"   // k\\pi
//   "3 (double root)"                 // 3
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_REMARKS_H_
#define ESPALIER_DATASETS_ANSWERS_REMARKS_H_

#include <vector>

#include "datasets/answers/lexer.h"

namespace espalier {

// Takes them out; the first token always stays. A program's "3+4j" and
// "E**x" get their usual letters as well.
void DropRemarks(std::vector<Token>& tokens);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_REMARKS_H_
