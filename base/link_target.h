// Where writing to a path ends up.
//
//   LinkTarget("results.json")  // -> "runs/7/results.json", which need not
//   exist
//
// Stateless: thread-safe.
#ifndef ESPALIER_BASE_LINK_TARGET_H_
#define ESPALIER_BASE_LINK_TARGET_H_

#include <string>

#include "absl/status/statusor.h"

namespace espalier {

// `path` itself, or, if it is a symbolic link, what the link and all that
// follow it lead to, whether it exists or not. Unavailable for links in a
// circle.
absl::StatusOr<std::string> LinkTarget(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_BASE_LINK_TARGET_H_
