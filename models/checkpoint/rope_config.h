// Reads the rotation of queries and keys from config.json.
//
// Two forms are in use: "rope_theta" with "rope_scaling" {"type" or
// "rope_type": ..., ...}, and since transformers 5 a single "rope_parameters"
// {"rope_type", "rope_theta", ...}. Types: default, linear, dynamic, llama3,
// yarn, longrope; anything else that would change the angles is rejected.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_

#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Sets rope, rope_theta and rotary_dim of `config`. On entry its rope_theta is
// the default and its context_length max_position_embeddings, on return the
// number of usable positions: linear, dynamic and yarn scaling reach `factor`
// times as far as the network was trained; llama3's max_position_embeddings
// already includes the scaling; longrope is usable up to the original length.
// `part` is the default of "partial_rotary_factor"; 0: the architecture rotates
// whole heads, and another factor is rejected.
void ReadRope(ConfigReader& in, double part, TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_ROPE_CONFIG_H_
