// A GGUF file as a source of tensors.
//
//   ESP_ASSIGN_OR_RETURN(auto source, OpenGguf("model.gguf"));
//
// Rows come as Hugging Face's Llama has them: the query and key rows of
// llama files, stored with the two halves of each head interleaved (their
// rotary pairs are neighbours), are put back in order, and the fused query,
// key and value of GPT-2 is taken apart.
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
