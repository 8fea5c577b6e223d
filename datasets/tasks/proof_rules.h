// Propositional proofs: premises, their one-line consequences, the exact length
// of the shortest proof, and the rule that judges lines.
//
//   1. p                 literals are letters, ~ negates
//   2. p -> ~q
//   3. r & ~s -> q       a conjunction implies a literal,
//   4. r | t             or a disjunction of literals
//   prove s in 3
//
//   ~q : 2               a line: a literal, and the premise that yields it
//   = ~q                 the goal, once it has been reached
//
// A premise is a clause: p & q -> r is ~p | ~q | r. A line is right if its
// premise contains its literal and every other literal of the premise is known
// to be false, by the lines above or by single-literal premises. That covers
// modus ponens, modus tollens and the disjunctive syllogism. Knowledge only
// grows, so no right line leads to a dead end, but lines are limited: a proof
// has at most as many as the question allows (the line "= ..." is not counted).
//
// Stateless functions are thread-safe; ProofJudge is thread-compatible.
#ifndef ESPALIER_DATASETS_TASKS_PROOF_RULES_H_
#define ESPALIER_DATASETS_TASKS_PROOF_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/verifier.h"

namespace espalier {

// A letter: p is 'p', its negation -'p'.
using Literal = int;

struct Premise {
  std::vector<Literal> clause;  // one of them is true
  std::string text;             // as spelled in the question
};

struct ProofPuzzle {
  std::vector<Premise> premises;  // 1 to 64
  Literal goal = 'p';
  int lines = 1;  // maximum
};

std::string FormatLiteral(Literal literal);  // "~p"
std::optional<Literal> ParseLiteral(std::string_view text);

// Parses a question as above. At most 16 different literals may follow from the
// premises, and no two of them may contradict each other.
absl::StatusOr<ProofPuzzle> ParseProof(std::string_view question);
// The question's text, a newline after each line.
std::string FormatProof(const ProofPuzzle& puzzle);

// The literals stated by single-literal premises.
std::vector<Literal> KnownAtStart(const ProofPuzzle& puzzle);

// `known`, then everything that follows from it line by line.
std::vector<Literal> Closure(const ProofPuzzle& puzzle,
                             std::vector<Literal> known);

// Whether this premise yields `literal`, given `known`.
bool Yields(const Premise& premise, Literal literal,
            const std::vector<Literal>& known);

// The fewest lines after which `goal` is known; nothing if it never is. Exact:
// breadth-first search over sets of known literals.
std::optional<int> ProofDistance(const ProofPuzzle& puzzle, Literal goal,
                                 const std::vector<Literal>& known);

// The lines of a shortest proof, "= ..." last; empty if there is none.
std::vector<std::string> ShortestProof(const ProofPuzzle& puzzle);

// Judges the lines of one response in order.
//
// A line of a known form counts as stated, right or not: later lines may use
// its literal. The answer is right if it is the goal and the goal is known.
// path_ok: all lines so far are right and the goal can be reached in the lines
// that are left. A response longer than the question allows has no right
// answer.
class ProofJudge {
 public:
  explicit ProofJudge(ProofPuzzle puzzle);

  StepVerdict Next(std::string_view line);

  bool ended() const { return ended_; }

 private:
  ProofPuzzle puzzle_;
  std::vector<Literal> known_;
  int lines_left_;
  bool ended_ = false;
  bool right_so_far_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PROOF_RULES_H_
