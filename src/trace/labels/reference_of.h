// The reference of a recorded problem.
#ifndef ESPALIER_SRC_TRACE_LABELS_REFERENCE_OF_H_
#define ESPALIER_SRC_TRACE_LABELS_REFERENCE_OF_H_

#include "espalier/problem.h"

namespace espalier {

// The recorded one, or if that has no lines, as a run database keeps none, that
// of the same problem of a generated set, which its id ("stories:hard/1/12":
// set, seed and index) makes again.
Reference ReferenceOf(const GradedProblem& graded);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_REFERENCE_OF_H_
