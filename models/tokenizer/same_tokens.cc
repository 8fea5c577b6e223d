#include "models/tokenizer/same_tokens.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {

absl::Status CheckSameTokens(const std::string& folder, std::string_view what,
                             const Tokenizer& tokenizer, const Tokenizer& other,
                             std::string_view whose) {
  const std::string place =
      absl::StrCat(folder, ": ", AbslView(what), " must share the ",
                   AbslView(whose), "'s tokenizer; ");
  const int size = other.vocab_size();
  if (tokenizer.vocab_size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, "it has ", tokenizer.vocab_size(), " tokens, the ",
                     AbslView(whose), " ", size));
  }
  for (int32_t id = 0; id < size; ++id) {
    if (tokenizer.TokenBytes(id) == other.TokenBytes(id)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        place, "token ", id, " is \"",
        absl::CEscape(std::string(tokenizer.TokenBytes(id))), "\" in it and \"",
        absl::CEscape(std::string(other.TokenBytes(id))), "\" in the ",
        AbslView(whose)));
  }
  return absl::OkStatus();
}

}  // namespace espalier
