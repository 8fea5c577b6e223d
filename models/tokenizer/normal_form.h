// Unicode normal forms of a text that may contain invalid UTF-8: bytes that are
// not part of a character are kept.
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_NORMAL_FORM_H_
#define ESPALIER_MODELS_TOKENIZER_NORMAL_FORM_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace espalier {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

absl::StatusOr<std::string> Normalized(std::string_view text, NormalForm form);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_NORMAL_FORM_H_
