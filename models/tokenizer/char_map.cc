#include "models/tokenizer/char_map.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"

namespace espalier {
namespace {

// The fields of a unit of the double array.
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Value(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t Label(uint32_t unit) { return unit & 0x800000FF; }
// Published keys have at most some tens of bytes; a trie with a circle would
// match all of a text at every place.
constexpr size_t kLongestKey = 256;

uint32_t Offset(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

absl::StatusOr<CharMap> CharMap::Parse(std::string_view blob) {
  uint32_t size = 0;
  if (blob.size() >= 4) std::memcpy(&size, blob.data(), 4);
  if (blob.size() < 8 || size % 4 != 0 || size < 4 || size > blob.size() - 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the character map of ", blob.size(), " bytes declares a trie of ",
        size, " bytes; expected a multiple of 4 that fits"));
  }
  CharMap map;
  map.units_.resize(size / 4);
  std::memcpy(map.units_.data(), blob.data() + 4, size);
  map.texts_ = blob.substr(4 + size);
  return map;
}

size_t CharMap::Longest(std::string_view text,
                        std::string_view& replacement) const {
  size_t longest = 0;
  uint32_t at = Offset(units_[0]);
  for (size_t i = 0; i < std::min(text.size(), kLongestKey); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    at ^= byte;
    if (at >= units_.size() || Label(units_[at]) != byte) break;
    const uint32_t unit = units_[at];
    at ^= Offset(unit);
    if (at >= units_.size()) break;
    if (!HasLeaf(unit)) continue;
    const uint32_t start = Value(units_[at]);
    if (start >= texts_.size()) continue;
    longest = i + 1;
    const std::string_view rest = std::string_view(texts_).substr(start);
    replacement = rest.substr(0, rest.find('\0'));
  }
  return longest;
}

std::string CharMap::Apply(std::string_view text, size_t most) const {
  std::string out;
  out.reserve(text.size());
  while (!text.empty() && out.size() <= most) {
    std::string_view replacement;
    size_t size = Longest(text, replacement);
    if (size == 0) {
      size = NextUtf8(text).size;
      replacement = text.substr(0, size);
    }
    out += replacement;
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace espalier
