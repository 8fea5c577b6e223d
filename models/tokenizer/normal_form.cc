#include "models/tokenizer/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace espalier {
namespace {

int OptionsOf(NormalForm form) {
  switch (form) {
    case NormalForm::kNfc:
      return UTF8PROC_COMPOSE;
    case NormalForm::kNfd:
      return UTF8PROC_DECOMPOSE;
    case NormalForm::kNfkc:
      return UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::kNfkd:
      return UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

absl::StatusOr<std::string> NormalizeValid(std::string_view text,
                                           NormalForm form) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &result,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | OptionsOf(form)));
  if (size < 0) {
    return absl::InternalError(
        absl::StrCat("normalising text: ", utf8proc_errmsg(size)));
  }
  std::string normal(reinterpret_cast<const char*>(result),
                     static_cast<size_t>(size));
  std::free(result);
  return normal;
}

}  // namespace

absl::StatusOr<std::string> Normalized(std::string_view text, NormalForm form) {
  // ASCII is its own normal form in all four.
  if (std::all_of(text.begin(), text.end(),
                  [](char c) { return (c & 0x80) == 0; })) {
    return std::string(text);
  }
  std::string normal;
  while (!text.empty()) {
    const size_t valid = Utf8Stretch(text, true);
    if (valid > 0) {
      ESP_ASSIGN_OR_RETURN(const std::string part,
                           NormalizeValid(text.substr(0, valid), form));
      normal += part;
      text.remove_prefix(valid);
    }
    const size_t invalid = Utf8Stretch(text, false);
    normal += text.substr(0, invalid);
    text.remove_prefix(invalid);
  }
  return normal;
}

}  // namespace espalier
