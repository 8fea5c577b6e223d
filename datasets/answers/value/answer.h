// The shape of an answer once its notation is understood: "x = 5" is 5, named
// x; "1 and 2" is a list; "x > 2" is a region of the real line.
//
//   Answer a = Interpret(tree, comparer);
//   CompareAnswers(a, b, comparer, policy)   // {equal, reason}
//
// Thread-compatible.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_ANSWER_H_

#include <string>
#include <vector>

#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/value/expression.h"
#include "datasets/answers/value/policy.h"
#include "datasets/answers/value/region.h"

namespace espalier {

struct Answer {
  enum class Kind {
    kValue,       // expr
    kList,        // items, unordered; `braces` for a written set
    kTuple,       // items in order
    kMatrix,      // items in row-major order, `columns` per row
    kRegion,      // region; `from` as written
    kEquation,    // expr = 0
    kInequality,  // expr > 0, or >= 0 where `closed`
    kCongruence,  // items[0] modulo expr
    kRatio,       // items
    kText,        // text, folded
    kOther,       // from: compared as written
  };
  Kind kind = Kind::kOther;
  Expr expr;
  Expr from;
  // Left-hand side of "x = 5", "f(x) = ...", "(x, y) = ..."; null if absent.
  Expr name;
  std::vector<Answer> items;
  Region region;
  std::string text;
  // The symbol declared to stand for any integer, if there is one.
  std::string index;
  int columns = 0;
  bool braces = false;
  bool closed = false;
  // A pair in parentheses: a point or an open interval.
  bool pair = false;
};

Answer Interpret(const Expr& tree, ValueComparer& comparer);
Answer TextAnswer(std::string folded);
std::string Describe(const Answer& answer);

struct AnswerVerdict {
  bool equal = false;
  std::string reason;
  // The comparison could not be decided; `equal` is false then.
  bool unknown = false;
};
AnswerVerdict CompareAnswers(const Answer& gold, const Answer& answer,
                             ValueComparer& comparer,
                             const GradePolicy& policy);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_ANSWER_H_
