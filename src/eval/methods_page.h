// docs/methods.md: one page of all registered methods and presets, generated
// from their own descriptions.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_METHODS_PAGE_H_
#define ESPALIER_SRC_EVAL_METHODS_PAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "src/eval/method_costs.h"

namespace espalier {

// Markdown. File paths are relative to docs/.
absl::StatusOr<std::string> MethodsPage(const MethodCosts& costs);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METHODS_PAGE_H_
