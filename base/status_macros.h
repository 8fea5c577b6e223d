// Early return on errors carried by absl::Status and absl::StatusOr.
#ifndef ESPALIER_BASE_STATUS_MACROS_H_
#define ESPALIER_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ESP_RETURN_IF_ERROR(expr)            \
  do {                                       \
    ::absl::Status esp_status = (expr);      \
    if (!esp_status.ok()) return esp_status; \
  } while (false)

#define ESP_CONCAT_INNER(a, b) a##b
#define ESP_CONCAT(a, b) ESP_CONCAT_INNER(a, b)

// ESP_ASSIGN_OR_RETURN(auto file, Open(path));
#define ESP_ASSIGN_OR_RETURN(lhs, expr) \
  ESP_ASSIGN_OR_RETURN_IMPL(ESP_CONCAT(esp_status_or_, __LINE__), lhs, expr)
#define ESP_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                              \
  if (!var.ok()) return var.status();             \
  lhs = std::move(var).value()

#endif  // ESPALIER_BASE_STATUS_MACROS_H_
