// A GGUF file as a source of tensors.
//
//   ESP_ASSIGN_OR_RETURN(auto source, OpenGguf("model.gguf"));
//
// Rows are in the order of Hugging Face's Llama: the query and key rows of
// llama files, stored with the two halves of each head interleaved (their
// rotary pairs are adjacent), are reordered, and GPT-2's fused query, key and
// value is split.
#ifndef ESPALIER_MODELS_CHECKPOINT_GGUF_SOURCE_H_
#define ESPALIER_MODELS_CHECKPOINT_GGUF_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

absl::StatusOr<std::unique_ptr<TensorSource>> OpenGguf(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_GGUF_SOURCE_H_
