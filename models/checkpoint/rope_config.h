// How config.json says what rotates queries and keys.
//
// Two forms are in use: "rope_theta" beside "rope_scaling" {"type" or
// "rope_type": ..., ...}, and since transformers 5 one "rope_parameters"
// {"rope_type", "rope_theta", ...}. Types: default, linear, dynamic, llama3,
// yarn; whatever else would turn by other angles is refused.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_

#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Sets rope and rope_theta of `config`. Its context_length holds
// max_position_embeddings before and the positions that can be used after:
// linear, dynamic and yarn scaling reach `factor` times as far as the network
// was trained, llama3's max_position_embeddings already says how far.
void ReadRope(ConfigReader& in, TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_
