#include "models/checkpoint/layer_kinds.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Deeper networks are corrupt files; the bound keeps lists that no file holds
// small.
constexpr int kMostListedLayers = 1 << 16;

}  // namespace

std::vector<LayerKind>& EveryLayerKind(TrunkConfig& config) {
  config.layer_kinds.resize(
      static_cast<size_t>(std::min(config.layers, kMostListedLayers)));
  return config.layer_kinds;
}

bool ReadLayerTypes(ConfigReader& in, TrunkConfig& config) {
  constexpr char kKey[] = "layer_types";
  const json* types = in.Find(kKey);
  if (types == nullptr) return false;
  const auto refuse = [&] {
    in.Refuse(kKey, *types,
              absl::StrCat("a list of ", config.layers,
                           " layers' kinds, sliding_attention or "
                           "full_attention"));
    return true;
  };
  if (!types->is_array() ||
      types->size() != static_cast<size_t>(config.layers)) {
    return refuse();
  }
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  if (kinds.size() != types->size()) return refuse();
  bool any = false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].windowed = (*types)[i] == "sliding_attention";
    if (!kinds[i].windowed && (*types)[i] != "full_attention") return refuse();
    any |= kinds[i].windowed;
  }
  if (any && config.sliding_window == 0) {
    in.Refuse(
        "sliding_window", json(nullptr),
        "a whole number above 0, since layer_types has sliding_attention");
  }
  if (!any) config.sliding_window = 0;
  return true;
}

void SlideAllButEach(int interval, TrunkConfig& config) {
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].windowed = (i + 1) % static_cast<size_t>(interval) != 0;
  }
}

void ReadUnrotatedLayers(ConfigReader& in, TrunkConfig& config) {
  constexpr char kKey[] = "no_rope_layers";
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  const json* list = in.Find(kKey);
  if (list == nullptr) {
    const size_t interval =
        static_cast<size_t>(in.Extent("no_rope_layer_interval", 4));
    for (size_t i = 0; i < kinds.size(); ++i) {
      kinds[i].rotated = (i + 1) % interval != 0;
    }
    return;
  }
  bool good = list->is_array() && list->size() == kinds.size();
  for (size_t i = 0; good && i < kinds.size(); ++i) {
    kinds[i].rotated = (*list)[i] == 1;
    good = kinds[i].rotated || (*list)[i] == 0;
  }
  if (good) return;
  in.Refuse(kKey, *list,
            absl::StrCat("a list of ", config.layers,
                         " layers' numbers, 1 (rotated) or 0"));
}

}  // namespace espalier
