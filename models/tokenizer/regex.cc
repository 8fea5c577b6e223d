#include "models/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace espalier {
namespace {

// Published tokenizer patterns have at most 2 kB.
constexpr size_t kMaxPattern = 1 << 16;
// Free backtracking steps per starting point: published patterns take a few. A
// long run of spaces takes one per space, once; so the limit is raised fourfold
// per retry, paid from a budget that grows with the text.
constexpr uint32_t kFreeSteps = 1024;
constexpr uint64_t kStepsPerByte = 16;
constexpr uint64_t kSpareSteps = 1 << 22;
constexpr uint32_t kHeapLimitKib = 1 << 16;

std::string ErrorText(int code) {
  PCRE2_UCHAR buffer[256];
  const int size = pcre2_get_error_message(code, buffer, sizeof(buffer));
  if (size < 0) return absl::StrCat("PCRE2 error ", code);
  return std::string(reinterpret_cast<const char*>(buffer),
                     static_cast<size_t>(size));
}

// Rejects what PCRE2 and Oniguruma read differently.
absl::Status CheckDialect(std::string_view pattern) {
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '\\') {
      if (next == 'h' || next == 'H') {
        return absl::UnimplementedError(
            absl::StrCat("\\", absl::string_view(&next, 1), " in the pattern ",
                         AbslView(pattern),
                         ": it means a hexadecimal digit in Hugging Face's "
                         "patterns and is not supported; write [0-9A-Fa-f]"));
      }
      ++i;
    } else if (c == '[') {
      in_class = true;
    } else if (c == ']') {
      in_class = false;
    } else if (in_class && c == '&' && next == '&') {
      return absl::UnimplementedError(absl::StrCat(
          "a class intersection && in the pattern ", AbslView(pattern),
          " is not supported; write a lookahead instead"));
    }
  }
  return absl::OkStatus();
}

// Matches one pattern over one text.
class Matcher {
 public:
  Matcher(const pcre2_code* code, std::string_view text)
      : code_(code),
        text_(text),
        budget_(kStepsPerByte * text.size() + kSpareSteps),
        data_(pcre2_match_data_create_from_pattern(code, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_heap_limit(context_, kHeapLimitKib);
  }
  ~Matcher() {
    pcre2_match_data_free(data_);
    pcre2_match_context_free(context_);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // The result of pcre2_match for the first match from `at` on.
  int Match(size_t at) {
    for (uint64_t steps = kFreeSteps;; steps *= 4) {
      pcre2_set_match_limit(context_, static_cast<uint32_t>(std::min<uint64_t>(
                                          steps, UINT32_MAX)));
      int rc = Run(at, 0);
      if (rc == PCRE2_ERROR_JIT_STACKLIMIT) rc = Run(at, PCRE2_NO_JIT);
      if (rc != PCRE2_ERROR_MATCHLIMIT || steps > budget_) return rc;
      budget_ -= steps;
    }
  }
  // Its begin and end.
  const PCRE2_SIZE* range() const { return pcre2_get_ovector_pointer(data_); }

 private:
  int Run(size_t at, uint32_t options) {
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()),
                       text_.size(), at, PCRE2_NO_UTF_CHECK | options, data_,
                       context_);
  }

  const pcre2_code* code_;
  std::string_view text_;
  uint64_t budget_;  // steps left beyond the free ones
  pcre2_match_data* data_;
  pcre2_match_context* context_;
};

}  // namespace

absl::StatusOr<Regex> Regex::Compile(std::string_view pattern) {
  if (absl::Status s = CheckDialect(pattern); !s.ok()) return s;
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)>
      context(pcre2_compile_context_create(nullptr),
              pcre2_compile_context_free);
  pcre2_set_max_pattern_length(context.get(), kMaxPattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
      context.get());
  if (code == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pattern ", AbslView(pattern.substr(0, 200)),
                     " is wrong at "
                     "byte ",
                     offset, ": ", ErrorText(error)));
  }
  Regex regex;
  regex.pattern_ = std::string(pattern);
  uint32_t groups = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
  regex.groups_ = static_cast<int>(groups);
  regex.code_ = std::shared_ptr<void>(
      code, [](void* p) { pcre2_code_free(static_cast<pcre2_code*>(p)); });
  // Matching also works without the JIT, only slower.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return regex;
}

absl::Status Regex::FindAll(std::string_view text,
                            std::vector<TextRange>& matches) const {
  return Find(text, 0, matches);
}

absl::Status Regex::FindAllGroups(std::string_view text,
                                  std::vector<TextRange>& groups) const {
  return Find(text, 1, groups);
}

absl::Status Regex::Find(std::string_view text, size_t group,
                         std::vector<TextRange>& found) const {
  ESP_CHECK(group <= static_cast<size_t>(groups_));
  found.clear();
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  Matcher matcher(code, text);
  size_t at = 0;
  while (at <= text.size()) {
    const int rc = matcher.Match(at);
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("matching the pattern ", pattern_, " at byte ", at,
                       " of ", text.size(), " stopped: ", ErrorText(rc)));
    }
    const PCRE2_SIZE* range = matcher.range();
    if (range[0] < at || range[1] < range[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat("the pattern ", pattern_,
                       " moves the start of a match (\\K in a lookaround), "
                       "which is not supported for splitting text"));
    }
    const PCRE2_SIZE begin = range[2 * group], end = range[2 * group + 1];
    if (begin != PCRE2_UNSET) {
      found.push_back(
          {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    }
    at = range[1];
    if (range[0] == range[1]) {
      if (at == text.size()) break;
      at += NextUtf8(text.substr(at)).size;
    }
  }
  return absl::OkStatus();
}

}  // namespace espalier
