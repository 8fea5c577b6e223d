// Limits for every vocabulary and every text to encode.
#ifndef ESPALIER_MODELS_TOKENIZER_VOCABULARY_H_
#define ESPALIER_MODELS_TOKENIZER_VOCABULARY_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/tokenizer/added_tokens.h"

namespace espalier {

// Upper bound of ids, far above every published vocabulary; it keeps a wrong id
// from allocating gigabytes.
constexpr int32_t kMaxVocab = 1 << 23;

// Fails for long texts: ranges are 32-bit, and normalising may lengthen a text.
absl::Status CheckTextSize(std::string_view text);

// Checks that `id` of the token `content` is in [0, kMaxVocab).
absl::Status CheckTokenId(std::string_view content, int32_t id);

// Checks that the ids of `tokens` are unique; returns one more than the largest
// of them and of `added`, which may repeat an id. Tokens have an id and a text.
template <typename Token>
absl::StatusOr<int32_t> VocabularySize(const std::vector<Token>& tokens,
                                       const std::vector<AddedToken>& added) {
  int32_t largest = -1;
  for (const Token& token : tokens) {
    ESP_RETURN_IF_ERROR(CheckTokenId(token.text, token.id));
    largest = std::max(largest, token.id);
  }
  for (const AddedToken& token : added) {
    ESP_RETURN_IF_ERROR(CheckTokenId(token.content, token.id));
    largest = std::max(largest, token.id);
  }
  if (largest < 0) return absl::InvalidArgumentError("the vocabulary is empty");
  std::vector<bool> taken(static_cast<size_t>(largest) + 1, false);
  for (const Token& token : tokens) {
    if (taken[token.id]) {
      return absl::InvalidArgumentError(
          absl::StrCat("id ", token.id,
                       " is given to two tokens, one of them "
                       "\"",
                       token.text, "\""));
    }
    taken[token.id] = true;
  }
  return largest + 1;
}

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_VOCABULARY_H_
