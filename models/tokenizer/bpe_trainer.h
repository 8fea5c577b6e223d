// Trains a small byte-level BPE vocabulary for models that do arithmetic.
//
//   ESP_ASSIGN_OR_RETURN(std::string json,
//                        TrainByteBpe(texts, {.vocab_size = 512}));
//   ESP_RETURN_IF_ERROR(WriteFileAtomic(folder + "/tokenizer.json", json));
//
// The result is a Hugging Face tokenizer.json. Ids: 0-255 are the bytes, then
// the merges in the order learned, then the special tokens in the order given.
// Digits, newlines and punctuation are always separate tokens; a word may
// include the space before it.
//
// Deterministic: the most frequent pair merges first, ties by lowest (left id,
// right id).
#ifndef ESPALIER_MODELS_TOKENIZER_BPE_TRAINER_H_
#define ESPALIER_MODELS_TOKENIZER_BPE_TRAINER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace espalier {

struct BpeTrainerOptions {
  // All tokens: bytes, merges and special ones; at least 256 + special. The
  // vocabulary is smaller if no pair of the corpus is left that occurs twice.
  int vocab_size = 512;
  std::vector<std::string> special = {"<|end|>"};
};

// The text of a tokenizer.json learned from `corpus`.
absl::StatusOr<std::string> TrainByteBpe(absl::Span<const std::string> corpus,
                                         const BpeTrainerOptions& options);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_BPE_TRAINER_H_
