// What the files next to a vocabulary say about it: tokenizer_config.json (and
// config.json for the model's type), as in Hugging Face's folders.
//
// A plain value.
#ifndef ESPALIER_MODELS_TOKENIZER_TOKENIZER_CONFIG_H_
#define ESPALIER_MODELS_TOKENIZER_TOKENIZER_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/tokenizer/added_tokens.h"

namespace espalier {

struct TokenizerConfig {
  std::vector<AddedToken> added;  // of added_tokens_decoder
  std::string bos, eos, pad;      // texts of tokens; "" if not named
  std::optional<bool> add_bos;
  std::optional<bool> add_eos;
  std::string tokenizer_class;  // e.g. "Qwen2Tokenizer"
  std::string model_type;       // of config.json, e.g. "qwen2"
};

// Reads FOLDER/tokenizer_config.json and FOLDER/config.json; missing files
// leave fields empty.
absl::StatusOr<TokenizerConfig> ReadTokenizerConfig(const std::string& folder);

// `tokens` plus those of `more` with other ids.
std::vector<AddedToken> JoinAdded(std::vector<AddedToken> tokens,
                                  const std::vector<AddedToken>& more);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TOKENIZER_CONFIG_H_
