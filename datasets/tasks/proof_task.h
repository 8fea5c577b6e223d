// The task "proof": a literal from premises in few lines (rules and lines:
// proof_rules.h).
//
//   1. p                 the prompt: the question unchanged
//   2. p -> ~q
//   prove ~q in 1
//   ~q : 2               the response, one line per step
//   = ~q
#ifndef ESPALIER_DATASETS_TASKS_PROOF_TASK_H_
#define ESPALIER_DATASETS_TASKS_PROOF_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the literal of the last answer line. As in Countdown, every
// proof of a goal has the same answer, so methods that vote need the verifier
// or a reward model.
const Task& ProofTask();

// Intrinsic. Check requires that every line is right, that there are no more of
// them than the question allows, and that the last one is the answer.
// CheckSteps fails with InvalidArgument if the question is not a puzzle.
const Verifier& ProofVerifier();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PROOF_TASK_H_
