// Golds that are there but cannot judge any response, such as tests that do not
// run. Verifier::CanCheck (espalier/verifier.h) only sees whether there is one.
// Thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_BROKEN_GOLDS_H_
#define ESPALIER_DATASETS_TASKS_BROKEN_GOLDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/verifier.h"

namespace espalier {

// One reason per problem that `verifier` can check, "" if nothing is known to
// be wrong with its gold. Many problems at once are cheaper.
absl::StatusOr<std::vector<std::string>> WhyGoldsAreBroken(
    const Verifier& verifier, absl::Span<const GradedProblem> problems);

// A note for the user about `broken` of `all` problems, "" if there are none;
// InvalidArgument if no other is left. `first` is the id of the first one and
// `why` its reason.
absl::StatusOr<std::string> BrokenGoldsNote(const std::string& set, int64_t all,
                                            int64_t broken,
                                            const std::string& first,
                                            const std::string& why);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_BROKEN_GOLDS_H_
