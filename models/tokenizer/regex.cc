#include "models/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "absl/strings/str_cat.h"
#include "models/tokenizer/utf8.h"
#include "src/base/text.h"

namespace espalier {
namespace {

// Published tokenizer patterns have at most 2 kB.
constexpr size_t kMaxPattern = 1 << 16;
// Backtracking steps from one starting point; published patterns take a few
// per character of a word.
constexpr uint32_t kMatchLimit = 1 << 20;
constexpr uint32_t kHeapLimitKib = 1 << 16;

std::string ErrorText(int code) {
  PCRE2_UCHAR buffer[256];
  const int size = pcre2_get_error_message(code, buffer, sizeof(buffer));
  if (size < 0) return absl::StrCat("PCRE2 error ", code);
  return std::string(reinterpret_cast<const char*>(buffer),
                     static_cast<size_t>(size));
}

// What PCRE2 and Oniguruma read differently.
absl::Status CheckDialect(std::string_view pattern) {
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '\\') {
      if (next == 'h' || next == 'H') {
        return absl::UnimplementedError(absl::StrCat(
            "\\", absl::string_view(&next, 1), " in the pattern ",
            AbslView(pattern),
            ": it means a hexadecimal digit there and is not supported; "
            "write [0-9A-Fa-f]"));
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

struct MatchState {
  explicit MatchState(const pcre2_code* code)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context, kMatchLimit);
    pcre2_set_heap_limit(context, kHeapLimitKib);
  }
  ~MatchState() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  pcre2_match_data* data;
  pcre2_match_context* context;
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
  regex.code_ = std::shared_ptr<void>(
      code, [](void* p) { pcre2_code_free(static_cast<pcre2_code*>(p)); });
  // Without the JIT matching works too, only slower.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return regex;
}

absl::Status Regex::FindAll(std::string_view text,
                            std::vector<TextRange>& matches) const {
  matches.clear();
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  MatchState state(code);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  size_t at = 0;
  while (at <= text.size()) {
    int rc = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK,
                         state.data, state.context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code, subject, text.size(), at,
                       PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state.data,
                       state.context);
    }
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("matching the pattern ", pattern_, " at byte ", at,
                       " of ", text.size(), " stopped: ", ErrorText(rc)));
    }
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state.data);
    if (range[0] < at || range[1] < range[0]) {
      return absl::InvalidArgumentError(
          absl::StrCat("the pattern ", pattern_,
                       " moves the start of a match (\\K in a "
                       "lookaround), which cannot cut text"));
    }
    matches.push_back(
        {static_cast<uint32_t>(range[0]), static_cast<uint32_t>(range[1])});
    at = range[1];
    if (range[0] == range[1]) {
      if (at == text.size()) break;
      at += NextUtf8(text.substr(at)).size;
    }
  }
  return absl::OkStatus();
}

}  // namespace espalier
