// Cuts a Jinja template into texts and the tokens of its tags, with the white
// space around tags taken away as Hugging Face's transformers has it done
// (trim_blocks and lstrip_blocks).
//
// Stateless function: thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_JINJA_LEXER_H_
#define ESPALIER_MODELS_PROMPT_JINJA_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

enum class JinjaTokenKind : uint8_t {
  kText,      // outside of tags
  kPrint,     // {{
  kPrintEnd,  // }}
  kBlock,     // {%
  kBlockEnd,  // %}
  kName,
  kString,  // without quotes, escapes resolved
  kInt,
  kFloat,
  kOperator,
  kEnd,
};

struct JinjaToken {
  JinjaTokenKind kind = JinjaTokenKind::kEnd;
  std::string text;
  int line = 1;
};

// InvalidArgument, with the line, for a tag or string that does not end and for
// characters that are none of the language. The last token is kEnd.
absl::StatusOr<std::vector<JinjaToken>> LexJinja(std::string_view source);

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_JINJA_LEXER_H_
