// A Hugging Face folder as a source of tensors.
//
//   ESP_ASSIGN_OR_RETURN(auto source, OpenHuggingFace(folder));
//
// config.json determines the expected tensors; missing, extra, misshapen and
// unreadable ones are errors that name file, tensor, expected and found.
// Redundant tensors are ignored: rotary frequencies, causal masks, an output
// matrix that repeats the tied embedding.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_HF_SOURCE_H_
#define ESPALIER_MODELS_CHECKPOINT_HF_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

// `part` as in TensorSource::Open.
absl::StatusOr<std::unique_ptr<TensorSource>> OpenHuggingFace(
    const std::string& folder, CheckpointPart part = CheckpointPart::kAll);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_HF_SOURCE_H_
