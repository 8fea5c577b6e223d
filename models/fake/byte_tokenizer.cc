#include "models/fake/byte_tokenizer.h"

#include <array>

namespace espalier {

absl::StatusOr<std::vector<int32_t>> ByteTokenizer::Encode(
    std::string_view text, bool parse_special) const {
  constexpr std::string_view kEndText = "<|end|>";
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  while (!text.empty()) {
    if (parse_special && text.substr(0, kEndText.size()) == kEndText) {
      ids.push_back(kEnd);
      text.remove_prefix(kEndText.size());
    } else {
      ids.push_back(static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
    }
  }
  return ids;
}

std::string_view ByteTokenizer::TokenBytes(int32_t id) const {
  static const std::array<char, 256> bytes = [] {
    std::array<char, 256> all{};
    for (int b = 0; b < 256; ++b) all[b] = static_cast<char>(b);
    return all;
  }();
  if (id < 0 || id > 255) return {};
  return std::string_view(&bytes[id], 1);
}

}  // namespace espalier
