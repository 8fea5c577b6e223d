// Solutions with planted errors: examples of wrong steps with exact labels.
//
// A reward model that has seen only right lines cannot recognize wrong ones.
// Here a story's solution is rewritten: with a given probability each line is
// replaced by a wrong one of a kind that models produce, and the following
// lines continue consistently from the value that the wrong line states:
//
//   a 23          right
//   b 23+48=61    planted: the sum is off
//   d 61-17=44    right given the line above, not on a right path
//   = 44
//
// The verdicts come from the verifier's own rule (story_lines.h).
#ifndef ESPALIER_DATASETS_TASKS_CORRUPT_H_
#define ESPALIER_DATASETS_TASKS_CORRUPT_H_

#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/problem.h"
#include "espalier/verifier.h"

namespace espalier {

struct CorruptedLine {
  std::string text;  // without newline
  StepVerdict verdict;
  bool planted = false;  // wrong on purpose; then verdict.step_ok is false
};

// A solution of `story` in which each line is wrong with probability `p_line`.
// Kinds: result off by 1 or 10, a digit changed or swapped, an operand from
// another sentence, another factor or divisor that fits, another operation, a
// sentence skipped, repeated or named wrongly, a line for a sentence that
// changes nothing, a left operand miscopied, an answer that repeats another
// value. Every value is in [0, 10000). If the story cannot be continued from a
// wrong value (a division is not exact, a result negative or too large), the
// solution stops or continues with a planted line, with equal probability;
// otherwise it ends with an answer, unless repeated sentences made it longer
// than twice the expected lines.
//
// `story` must have expected lines as MakeStory writes them.
std::vector<CorruptedLine> CorruptStory(const GradedProblem& story,
                                        double p_line, RandomStream& rng);

// Probability of omitting a carry or a borrow in a step that needs one.
struct ErrorOptions {
  double carry = 0;   // 48+23=61
  double borrow = 0;  // 52-18=46: the smaller digit from the larger
  // Probability that such an error is corrected ("wait b 23+48=71"): by the
  // next line, the one after it or the one after that, each as often, and no
  // later than before the answer or where the solution cannot be continued.
  double correct = 0;
};

// A solution of `story` with the errors that people most often make in column
// arithmetic (Brown and Burton, "Diagnostic models for procedural bugs in basic
// mathematical skills", 1978). The lines after an error continue from the value
// stated; a correction takes them back. Lines with an error are `planted`.
// Stops if it cannot be continued; otherwise ends with an answer. `story` as
// above.
std::vector<CorruptedLine> SolveWithErrors(const GradedProblem& story,
                                           const ErrorOptions& options,
                                           RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_CORRUPT_H_
