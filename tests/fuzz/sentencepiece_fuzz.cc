// SentencePiece's tokenizer.model.
#include "models/tokenizer/sentencepiece_file.h"
#include "tests/fuzz/checkpoint_use.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(sentencepiece) {
  const auto tokenizer = SentencePieceFromBytes(bytes, {});
  if (tokenizer.ok()) UseTokenizer(**tokenizer, bytes);
}

}  // namespace espalier
