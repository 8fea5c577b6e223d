// tokenizer.json, and behind the first NUL a text to encode.
#include "models/tokenizer/tokenizer_json.h"
#include "tests/fuzz/checkpoint_use.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(tokenizer_json) {
  const auto [json, text] = CutAt(bytes, '\0');
  const auto tokenizer = TokenizerFromJson(json, {});
  if (tokenizer.ok()) UseTokenizer(**tokenizer, text);
}

}  // namespace espalier
