// How a normalised text becomes pieces of a vocabulary over characters: by
// byte-pair merges (char_bpe.h) or by the most likely split (unigram.h).
#ifndef ESPALIER_MODELS_TOKENIZER_PIECE_MODEL_H_
#define ESPALIER_MODELS_TOKENIZER_PIECE_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace espalier {

// Symbols are ids of pieces or, from here on, characters that no piece covers:
// kCharacterBase plus the code point. No vocabulary is this large.
constexpr int32_t kCharacterBase = 1 << 30;

// The mark for a space in such vocabularies, U+2581.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

class PieceModel {
 public:
  virtual ~PieceModel() = default;
  // Appends the symbols of `text`, which is valid UTF-8. Thread-safe.
  virtual void Encode(std::string_view text,
                      std::vector<int32_t>& symbols) const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_PIECE_MODEL_H_
