#include "models/tokenizer/added_text.h"

namespace espalier {

std::string DecodeWithNames(const Tokenizer& tokenizer,
                            absl::Span<const int32_t> ids) {
  std::string text = tokenizer.DecodeText(ids);
  bool named = false;
  for (const int32_t id : ids) named |= tokenizer.TokenBytes(id).empty();
  if (!named) return text;
  text.clear();
  size_t begin = 0;  // of a run of tokens with bytes
  for (size_t i = 0; i <= ids.size(); ++i) {
    if (i < ids.size() && !tokenizer.TokenBytes(ids[i]).empty()) continue;
    const auto run = ids.subspan(begin, i - begin);
    // Only the text's own beginning lacks the space that Encode put there.
    text += begin == 0 ? tokenizer.DecodeText(run) : tokenizer.Decode(run);
    if (i < ids.size()) text += tokenizer.AddedName(ids[i]);
    begin = i + 1;
  }
  return text;
}

}  // namespace espalier
