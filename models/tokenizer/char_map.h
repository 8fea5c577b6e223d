// The table with which SentencePiece normalises characters ("precompiled
// charsmap"): the longest entry that begins the text is replaced by its text.
//
//   4 bytes   size of the trie in bytes, little-endian
//   trie      a double array of 32-bit units (Darts-clone's layout)
//   texts     the replacements, each ending in a zero byte
//
// The table is untrusted: every step through it is checked.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_CHAR_MAP_H_
#define ESPALIER_MODELS_TOKENIZER_CHAR_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

class CharMap {
 public:
  static absl::StatusOr<CharMap> Parse(std::string_view blob);

  // `text` with every entry replaced; the rest is kept, byte by byte. Stops
  // where the result has more than `most` bytes.
  std::string Apply(std::string_view text, size_t most) const;

 private:
  // Bytes of the longest entry that begins `text` (0: none) and its
  // replacement.
  size_t Longest(std::string_view text, std::string_view& replacement) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_CHAR_MAP_H_
