// The tokenizer that a GGUF file carries.
//
//   auto tokenizer = LoadGgufTokenizer("model.gguf").value();
//
// Of "tokenizer.ggml.model" known are "gpt2", byte-level BPE whose way of
// cutting text "tokenizer.ggml.pre" names, and "llama", SentencePiece's BPE.
// Where the file holds the tokenizer.json that it was made from
// ("tokenizer.huggingface.json"), that decides.
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_GGUF_TOKENIZER_H_
#define ESPALIER_MODELS_TOKENIZER_GGUF_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadGgufTokenizer(
    const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_GGUF_TOKENIZER_H_
