#include "models/tokenizer/stream_decoder.h"

#include <algorithm>
#include <cstdint>

namespace espalier {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// What the first byte of a character implies: its size (0: begins none) and the
// range of the second byte, which excludes overlong forms, surrogates and codes
// above U+10FFFF.
struct Promise {
  size_t size;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

Promise PromiseOf(uint8_t first) {
  if (first < 0x80) return {1};
  if (first >= 0xC2 && first <= 0xDF) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {4};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

// Bytes at the start of `text` that can belong to one character.
size_t Stretch(std::string_view text, const Promise& promise) {
  const size_t most = std::min(promise.size, text.size());
  size_t size = 1;
  while (size < most) {
    const auto byte = static_cast<uint8_t>(text[size]);
    const uint8_t low = size == 1 ? promise.low : 0x80;
    const uint8_t high = size == 1 ? promise.high : 0xBF;
    if (byte < low || byte > high) break;
    ++size;
  }
  return size;
}

}  // namespace

std::string StreamDecoder::Push(std::string_view bytes) {
  held_ += bytes;
  std::string whole;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Promise promise = PromiseOf(static_cast<uint8_t>(rest[0]));
    const size_t size = Stretch(rest, promise);
    if (size < promise.size && size == rest.size()) break;
    whole +=
        size == promise.size ? rest.substr(0, size) : kReplacementCharacter;
    rest.remove_prefix(size);
  }
  held_.erase(0, held_.size() - rest.size());
  return whole;
}

std::string StreamDecoder::Finish() {
  const bool left = !held_.empty();
  held_.clear();
  return left ? std::string(kReplacementCharacter) : "";
}

}  // namespace espalier
