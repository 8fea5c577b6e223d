// The tokens around a text (TextMarks), from the places where a tokenizer's
// files name them.
#ifndef ESPALIER_MODELS_TOKENIZER_TEXT_MARKS_H_
#define ESPALIER_MODELS_TOKENIZER_TEXT_MARKS_H_

#include <vector>

#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/tokenizer_config.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// `post_processor` is the value in tokenizer.json, possibly null: its template
// says whether texts begin or end with special tokens, unless `config` does.
// Tokens are looked up among `added`.
TextMarks MarksOf(const nlohmann::json& post_processor,
                  const TokenizerConfig& config,
                  const std::vector<AddedToken>& added);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TEXT_MARKS_H_
