// The tokenizer in a GGUF file.
//
//   auto tokenizer = LoadGgufTokenizer("model.gguf").value();
//
// Supported values of "tokenizer.ggml.model" are "gpt2", byte-level BPE whose
// way of cutting text is named by "tokenizer.ggml.pre", and "llama",
// SentencePiece's BPE. If the file contains the tokenizer.json that it was made
// from ("tokenizer.huggingface.json"), that takes precedence.
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
