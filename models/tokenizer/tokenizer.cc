#include "models/tokenizer/tokenizer.h"

#include "models/tokenizer/json_fields.h"

namespace espalier {

int32_t Tokenizer::TokenId(std::string_view name) const {
  const auto ids = Encode(name, true);
  return ids.ok() && ids->size() == 1 ? ids->front() : -1;
}

absl::Status Tokenizer::Located(const absl::Status& error) const {
  return error.ok() || file_.empty() ? error : InFile(file_, error);
}

std::string Tokenizer::DecodeText(absl::Span<const int32_t> ids) const {
  std::string text = Decode(ids);
  if (leading_space_ && !text.empty() && text[0] == ' ') text.erase(0, 1);
  return text;
}

}  // namespace espalier
