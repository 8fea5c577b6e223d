// Whether two tokenizers give every id the same bytes, so that one model can
// read the tokens that another one wrote.
//
//   ESP_RETURN_IF_ERROR(CheckSameTokens(folder, "a further model", *tokenizer,
//                                       *policy_tokenizer));
#ifndef ESPALIER_MODELS_TOKENIZER_SAME_TOKENS_H_
#define ESPALIER_MODELS_TOKENIZER_SAME_TOKENS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// InvalidArgument names the folder, what it is, whose tokenizer `other` is and
// the first difference.
absl::Status CheckSameTokens(const std::string& folder, std::string_view what,
                             const Tokenizer& tokenizer, const Tokenizer& other,
                             std::string_view whose = "policy");

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_SAME_TOKENS_H_
