// Several errors reported as one, so that a user can fix all of them at once.
//
//   ErrorList errors;
//   if (budget < 0) errors.Add("--budget-tokens -5: expected ...");
//   errors.Add(CheckMethod(method));     // an OK status adds nothing
//   ESP_RETURN_IF_ERROR(errors.Status());
//
// Thread-compatible.
#ifndef ESPALIER_BASE_ERROR_LIST_H_
#define ESPALIER_BASE_ERROR_LIST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace espalier {

class ErrorList {
 public:
  // InvalidArgument.
  void Add(std::string message);
  // Ignores a message that is already in the list.
  void Add(const absl::Status& status);
  // OK, the only error, or all messages in order, with the code of the first.
  absl::Status Status() const;

 private:
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::vector<std::string> messages_;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_ERROR_LIST_H_
