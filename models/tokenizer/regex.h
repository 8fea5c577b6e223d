// A regular expression that cuts text, from an untrusted tokenizer file.
//
// PCRE2 with UTF, Unicode properties and the JIT, with limits on pattern
// length, backtracking and memory: a hostile pattern gives an error, never a
// crash or an endless search.
//
//   ESP_ASSIGN_OR_RETURN(const Regex digits, Regex::Compile("[0-9]+"));
//   ESP_RETURN_IF_ERROR(digits.FindAll("a12b3", matches));  // {1,3} {4,5}
//
// Patterns of tokenizer files are written for Oniguruma. The two dialects agree
// on what such patterns use; constructs that both accept with different
// meanings ("&&" in a class, \h) are rejected.
//
// Immutable after Compile; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_REGEX_H_
#define ESPALIER_MODELS_TOKENIZER_REGEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace espalier {

// Bytes [begin, end) of some text.
struct TextRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const TextRange&) const = default;
};

class Regex {
 public:
  static absl::StatusOr<Regex> Compile(std::string_view pattern);

  // All matches from left to right, not overlapping. `text` must be valid
  // UTF-8. An empty match advances the search by one character.
  absl::Status FindAll(std::string_view text,
                       std::vector<TextRange>& matches) const;
  // Same for the pattern's first group instead of whole matches; matches in
  // which the group does not take part are skipped. The pattern must have a
  // group.
  absl::Status FindAllGroups(std::string_view text,
                             std::vector<TextRange>& groups) const;

  // Number of groups (...) in the pattern.
  int groups() const { return groups_; }
  const std::string& pattern() const { return pattern_; }

 private:
  absl::Status Find(std::string_view text, size_t group,
                    std::vector<TextRange>& found) const;

  std::string pattern_;
  int groups_ = 0;
  std::shared_ptr<void> code_;  // pcre2_code
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_REGEX_H_
