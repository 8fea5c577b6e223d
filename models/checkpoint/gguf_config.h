// The network's configuration from a GGUF file's keys.
//
//   ESP_ASSIGN_OR_RETURN(const TrunkConfig config, ReadGgufConfig(file));
//
// Supported architectures ("general.architecture"): llama (Mistral's files
// too), qwen2, qwen3, gpt2. Whether products have biases, and whether the
// output is tied to the embedding, follows from which tensors exist, not from
// keys.
//
// Files of Llama 3 give their rope scaling as a tensor, rope_freqs.weight, with
// one divisor per frequency. It is checked against the published formula
// (RopeKind::kLlama3 with low_freq_factor 1, high_freq_factor 4); any other
// list is rejected.
//
// An unknown or contradictory setting is an error naming the file, the key,
// what was found and what is supported. Stateless: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_GGUF_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_GGUF_CONFIG_H_

#include "absl/status/statusor.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

absl::StatusOr<TrunkConfig> ReadGgufConfig(const GgufFile& file);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_GGUF_CONFIG_H_
