// Small helpers over text that messages need.
//
//   if (!found) {
//     return absl::InvalidArgumentError(
//         UnknownName("method", name, candidates));
//   }
//   // unknown method "bem": did you mean "beam"? known: greedy, beam, puct
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_BASE_TEXT_H_
#define ESPALIER_BASE_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace espalier {

// Debian builds Abseil with a string_view of its own, which absl::StrCat and
// friends want; the two views of one text convert by this.
inline absl::string_view AbslView(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// Number of edits that turn `a` into `b`, where an edit inserts, deletes or
// replaces one byte or swaps two neighbours (optimal string alignment).
int EditDistance(std::string_view a, std::string_view b);

// The candidate fewest edits away from `name`, upper and lower case taken as
// equal and the first of equals; empty when none is near enough to be a slip
// of the pen (more than a third of the longer of the two names, at least 1,
// unless `name` begins a candidate).
std::string NearestName(std::string_view name,
                        std::span<const std::string> candidates);
std::string NearestName(std::string_view name,
                        std::span<const std::string_view> candidates);

// A whole message for a name that is not among `candidates`. `kind` says what
// the name stands for: "method", "option", "set".
std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string> candidates);
std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string_view> candidates);

}  // namespace espalier

#endif  // ESPALIER_BASE_TEXT_H_
