// The keys of config.json that say what differs between layers.
//
//   ReadLayerTypes(in, config);          // "layer_types"
//   ReadUnrotatedLayers(in, config);     // "no_rope_layers"
//
// Errors stay in the reader and name the key. The lists must have an entry per
// layer.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_LAYER_KINDS_H_
#define ESPALIER_MODELS_CHECKPOINT_LAYER_KINDS_H_

#include <vector>

#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Makes config.layer_kinds as long as config.layers and returns it.
std::vector<LayerKind>& EveryLayerKind(TrunkConfig& config);

// "layer_types": "sliding_attention" and "full_attention", which have the
// window and have none. False if there is no such key. Without sliding layers
// the window is dropped; sliding layers without a window are refused.
bool ReadLayerTypes(ConfigReader& in, TrunkConfig& config);

// All layers have the window but each `interval`-th.
void SlideAllButEach(int interval, TrunkConfig& config);

// "no_rope_layers", 1: rotated, 0: not; without it each
// "no_rope_layer_interval"-th (default 4) is not.
void ReadUnrotatedLayers(ConfigReader& in, TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_LAYER_KINDS_H_
