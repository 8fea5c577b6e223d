// A GGUF file as a source of tensors.
//
//   ESP_ASSIGN_OR_RETURN(auto source, OpenGguf("model.gguf"));
//
// Stateless functions: thread-safe.
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
