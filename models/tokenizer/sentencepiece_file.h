// Reads SentencePiece's tokenizer.model: BPE and unigram models.
//
// The library is not linked: Debian's version includes a copy of protobuf whose
// symbols clash with the protobuf used for traces (see
// docs/adr/0010-sentencepiece-read-here.md). Ids are those of the library.
#ifndef ESPALIER_MODELS_TOKENIZER_SENTENCEPIECE_FILE_H_
#define ESPALIER_MODELS_TOKENIZER_SENTENCEPIECE_FILE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/tokenizer_config.h"

namespace espalier {

// `bytes` are the content of a tokenizer.model. If the model has the token <s>,
// texts begin with it by default, unless `config` says otherwise.
absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceFromBytes(
    std::string_view bytes, const TokenizerConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_SENTENCEPIECE_FILE_H_
