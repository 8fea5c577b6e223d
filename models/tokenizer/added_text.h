// The text of tokens that have no bytes, for servers that take a prompt as
// text: "<|im_start|>".
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_ADDED_TEXT_H_
#define ESPALIER_MODELS_TOKENIZER_ADDED_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// Tokenizer::DecodeText with the names of special tokens in their places: what
// Encode with `parse_special` turns into `ids` again.
std::string DecodeWithNames(const Tokenizer& tokenizer,
                            absl::Span<const int32_t> ids);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_ADDED_TEXT_H_
