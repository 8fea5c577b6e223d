#include "base/text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace espalier {
namespace {

template <typename Text>
std::string Nearest(std::string_view name, std::span<const Text> candidates) {
  const std::string wanted = absl::AsciiStrToLower(AbslView(name));
  std::string best;
  int best_edits = 0;
  for (const Text& candidate : candidates) {
    const std::string known = absl::AsciiStrToLower(AbslView(candidate));
    int edits = EditDistance(wanted, known);
    const int longer = static_cast<int>(std::max(wanted.size(), known.size()));
    const bool begins = wanted.size() >= 2 && absl::StartsWith(known, wanted);
    if (!begins && edits > std::max(1, longer / 3)) continue;
    if (wanted.empty()) continue;
    if (begins) edits = 1;
    if (best.empty() || edits < best_edits) {
      best = std::string(candidate);
      best_edits = edits;
    }
  }
  return best;
}

template <typename Text>
std::string Unknown(std::string_view kind, std::string_view name,
                    std::span<const Text> candidates) {
  std::string message =
      absl::StrCat("unknown ", AbslView(kind), " \"",
                   absl::Utf8SafeCEscape(AbslView(name)), "\"");
  const std::string nearest = NearestName(name, candidates);
  if (!nearest.empty()) {
    absl::StrAppend(&message, ": did you mean \"", nearest, "\"?");
  }
  if (!candidates.empty()) {
    absl::StrAppend(
        &message, nearest.empty() ? "; known: " : " known: ",
        absl::StrJoin(candidates, ", ", [](std::string* out, const Text& text) {
          out->append(text);
        }));
  }
  return message;
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table for the previous two bytes of `a` and the current one.
  const size_t width = b.size() + 1;
  std::vector<int> before(width), above(width), row(width);
  for (size_t j = 0; j < width; ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      const int replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string NearestName(std::string_view name,
                        std::span<const std::string> candidates) {
  return Nearest(name, candidates);
}

std::string NearestName(std::string_view name,
                        std::span<const std::string_view> candidates) {
  return Nearest(name, candidates);
}

std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string> candidates) {
  return Unknown(kind, name, candidates);
}

std::string UnknownName(std::string_view kind, std::string_view name,
                        std::span<const std::string_view> candidates) {
  return Unknown(kind, name, candidates);
}

}  // namespace espalier
