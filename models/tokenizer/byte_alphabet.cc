#include "models/tokenizer/byte_alphabet.h"

#include <array>

#include "base/utf8.h"

namespace espalier {
namespace {

// The last code point of the alphabet is U+0143.
constexpr int kCodePoints = 0x100 + 68;

struct Alphabet {
  std::array<std::string, 256> spelling;
  std::array<int16_t, kCodePoints> byte_of;

  Alphabet() {
    byte_of.fill(-1);
    int next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool prints = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) ||
                          (b >= 0xAE && b <= 0xFF);
      const int code = prints ? b : next++;
      AppendUtf8(static_cast<uint32_t>(code), spelling[b]);
      byte_of[code] = static_cast<int16_t>(b);
    }
  }
};

const Alphabet& TheAlphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

}  // namespace

std::string_view SpellByte(uint8_t byte) {
  return TheAlphabet().spelling[byte];
}

std::string SpellBytes(std::string_view bytes) {
  std::string spelled;
  for (const char c : bytes) spelled += SpellByte(static_cast<uint8_t>(c));
  return spelled;
}

std::optional<std::string> UnspellBytes(std::string_view spelled) {
  const Alphabet& alphabet = TheAlphabet();
  std::string bytes;
  while (!spelled.empty()) {
    const Utf8Char c = NextUtf8(spelled);
    if (!c.valid || c.code >= kCodePoints || alphabet.byte_of[c.code] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(alphabet.byte_of[c.code]);
    spelled.remove_prefix(c.size);
  }
  return bytes;
}

}  // namespace espalier
