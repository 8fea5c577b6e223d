#include "models/prompt/encode_prompt.h"

namespace espalier {

absl::StatusOr<std::vector<int32_t>> EncodePrompt(const Tokenizer& tokenizer,
                                                  std::string_view text,
                                                  bool control_tokens) {
  return tokenizer.Encode(text, control_tokens);
}

}  // namespace espalier
