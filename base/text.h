// Text helpers for messages.
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

// Debian builds Abseil with its own string_view type, which absl::StrCat and
// others expect; this converts to it.
inline absl::string_view AbslView(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// Number of edits that turn `a` into `b`, where an edit inserts, deletes or
// replaces one byte or swaps two neighbours (optimal string alignment).
int EditDistance(std::string_view a, std::string_view b);

// The candidate with the fewest edits from `name`, ignoring case; the first one
// on ties. Empty if none is close enough to be a typo: within a third of the
// longer name's length (or one edit), unless a candidate begins with `name`.
std::string NearestName(std::string_view name,
                        std::span<const std::string> candidates);
std::string NearestName(std::string_view name,
                        std::span<const std::string_view> candidates);

// The error message for a name that is not among `candidates`. `kind`: what the
// name denotes: "method", "option", "set".
std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string> candidates);
std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string_view> candidates);

}  // namespace espalier

#endif  // ESPALIER_BASE_TEXT_H_
