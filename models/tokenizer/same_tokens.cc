#include "models/tokenizer/same_tokens.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {

absl::Status CheckSameTokens(const std::string& folder, std::string_view what,
                             const Tokenizer& tokenizer,
                             const Tokenizer& policy) {
  const std::string place = absl::StrCat(
      folder, ": ", AbslView(what), " must share the policy's tokenizer; ");
  const int size = policy.vocab_size();
  if (tokenizer.vocab_size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, "it has ", tokenizer.vocab_size(),
                     " tokens, the policy ", size));
  }
  for (int32_t id = 0; id < size; ++id) {
    if (tokenizer.TokenBytes(id) == policy.TokenBytes(id)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        place, "token ", id, " is \"",
        absl::CEscape(std::string(tokenizer.TokenBytes(id))), "\" in it and \"",
        absl::CEscape(std::string(policy.TokenBytes(id))), "\" in the policy"));
  }
  return absl::OkStatus();
}

}  // namespace espalier
