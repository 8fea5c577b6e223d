// docs/methods.md: the registered methods and the presets as one page, written
// from what they say of themselves.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_METHODS_PAGE_H_
#define ESPALIER_SRC_EVAL_METHODS_PAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "src/eval/method_costs.h"

namespace espalier {

// Markdown. Files are named from docs/.
absl::StatusOr<std::string> MethodsPage(const MethodCosts& costs);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METHODS_PAGE_H_
