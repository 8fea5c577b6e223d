#include "base/error_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"

namespace espalier {

void ErrorList::Add(std::string message) {
  Add(absl::InvalidArgumentError(message));
}

void ErrorList::Add(const absl::Status& status) {
  if (status.ok()) return;
  std::string message(status.message());
  if (std::find(messages_.begin(), messages_.end(), message) !=
      messages_.end()) {
    return;
  }
  if (messages_.empty()) code_ = status.code();
  messages_.push_back(std::move(message));
}

absl::Status ErrorList::Status() const {
  return absl::Status(code_, absl::StrJoin(messages_, "; "));
}

}  // namespace espalier
