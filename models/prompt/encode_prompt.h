// A prompt's text as the tokens that a model was trained to read.
//
//   ESP_ASSIGN_OR_RETURN(std::vector<int32_t> ids,
//                        EncodePrompt(*tokenizer, "Once upon", false));
//
// Stateless function: thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_ENCODE_PROMPT_H_
#define ESPALIER_MODELS_PROMPT_ENCODE_PROMPT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// `control_tokens`: `text` may contain control tokens, as chat templates do;
// InvalidArgument if it begins with one that the tokenizer does not know.
// Without it they are plain text. If the model was trained with a begin token,
// it comes first, unless `text` contains a first token itself.
absl::StatusOr<std::vector<int32_t>> EncodePrompt(const Tokenizer& tokenizer,
                                                  std::string_view text,
                                                  bool control_tokens);

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_ENCODE_PROMPT_H_
