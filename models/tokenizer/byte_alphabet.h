// The 256 printable characters with which byte-level vocabularies spell bytes.
//
// GPT-2 and its descendants write a token's bytes as Unicode text: a byte that
// is printable in Latin-1 is written as itself, the others are U+0100, U+0101,
// ... in byte order, so that a space is "Ġ" (U+0120) and a newline "Ċ"
// (U+010A).
#ifndef ESPALIER_MODELS_TOKENIZER_BYTE_ALPHABET_H_
#define ESPALIER_MODELS_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// The character (UTF-8) that spells `byte`.
std::string_view SpellByte(uint8_t byte);

// The spelling of all bytes of `bytes`.
std::string SpellBytes(std::string_view bytes);

// The bytes that `spelled` (UTF-8) spells; nothing if a character is not one of
// the 256.
std::optional<std::string> UnspellBytes(std::string_view spelled);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_BYTE_ALPHABET_H_
