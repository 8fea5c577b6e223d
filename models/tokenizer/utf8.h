// The UTF-8 functions that tokenizers need: reading and writing one character,
// and separating valid from invalid runs.
#ifndef ESPALIER_MODELS_TOKENIZER_UTF8_H_
#define ESPALIER_MODELS_TOKENIZER_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

struct Utf8Char {
  uint32_t code = 0;
  size_t size = 1;     // bytes consumed; 1 if invalid
  bool valid = false;  // no overlong form, surrogate or code above U+10FFFF
};

// The first character of `text`, which must not be empty.
Utf8Char NextUtf8(std::string_view text);

// Appends `code`, a Unicode scalar value.
void AppendUtf8(uint32_t code, std::string& out);

// Bytes of the longest valid (or, if `valid` is false, wholly invalid) prefix.
size_t Utf8Stretch(std::string_view text, bool valid);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_UTF8_H_
