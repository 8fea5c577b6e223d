// An unlimited supply of propositional proofs, graded by the length of the
// shortest proof (datasets/tasks/proof_rules.h).
//
//   band     letters   shortest proof   extra lines allowed
//   easy     6         2 to 3           2
//   middle   9         4 to 5           1
//   hard     12        6 to 9           0
//
// Premises are drawn to be true under a hidden assignment, so they never
// contradict each other; some lead nowhere. They are split between seeds
// (split.h). Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PROOFS_H_
#define ESPALIER_DATASETS_TASKS_PROOFS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/problem.h"

namespace espalier {

// The bands' names, easiest first.
const std::vector<std::string_view>& ProofBands();

// The puzzle `index` of `seed` in a band; id "proof:easy/<seed>/<index>". The
// reference holds the goal and the lines of a shortest proof.
GradedProblem MakeProof(std::string_view band, uint64_t seed, uint64_t index);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PROOFS_H_
