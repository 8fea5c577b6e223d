#include "models/checkpoint/reward_head_config.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

std::optional<Level> LevelOf(std::string_view name) {
  for (size_t l = 0; l < kLevels; ++l) {
    if (kLevelNames[l] == name) return static_cast<Level>(l);
  }
  return std::nullopt;
}

// Adds the levels of "path+outcome"; false for an unknown one, or one that is
// in `seen`.
bool ReadOutput(const std::string& text, LevelSet& output, LevelSet& seen) {
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    const auto level = LevelOf(std::string_view(part.data(), part.size()));
    if (!level || seen.has(*level)) return false;
    output = output | *level;
    seen = seen | *level;
  }
  return true;
}

bool ReadWeights(const nlohmann::json& entry, LevelSet levels,
                 LevelWeights& weights) {
  if (!entry.is_object()) return false;
  for (const auto& [name, value] : entry.items()) {
    if (!value.is_number() || !std::isfinite(value.get<float>())) return false;
    if (name == "bias") {
      weights.bias = value.get<float>();
      continue;
    }
    const auto level = LevelOf(name);
    if (!level || !levels.has(*level)) return false;
    weights.weight[IndexOf(*level)] = value.get<float>();
  }
  return true;
}

}  // namespace

std::optional<RewardHeadConfig> ParseRewardHead(const nlohmann::json& entry) {
  if (!entry.is_object()) return std::nullopt;
  RewardHeadConfig out;
  LevelSet seen;
  const auto heads = entry.find("reward");
  if (heads == entry.end() || !heads->is_array() || heads->empty()) {
    return std::nullopt;
  }
  for (const nlohmann::json& head : *heads) {
    if (!head.is_string() || !ReadOutput(head.get<std::string>(),
                                         out.outputs.emplace_back(), seen)) {
      return std::nullopt;
    }
  }
  const auto weights = entry.find("weights");
  if (weights != entry.end() && !ReadWeights(*weights, seen, out.weights)) {
    return std::nullopt;
  }
  const auto ensemble = entry.find("ensemble");
  if (ensemble != entry.end()) {
    if (!ensemble->is_number_integer() || *ensemble < 2 ||
        *ensemble > kMostHeads) {
      return std::nullopt;
    }
    out.ensemble = ensemble->get<int>();
  }
  const size_t known = 1 + entry.count("weights") + entry.count("ensemble");
  if (entry.size() != known) return std::nullopt;
  return out;
}

nlohmann::json RewardHeadJson(const std::vector<LevelSet>& outputs,
                              const LevelWeights& weights, int ensemble) {
  nlohmann::json entry;
  for (const LevelSet output : outputs) {
    entry["reward"].push_back(OutputName(output));
  }
  if (ensemble > 1) entry["ensemble"] = ensemble;
  if (!weights.given()) return entry;
  entry["weights"]["bias"] = weights.bias;
  for (size_t l = 0; l < kLevels; ++l) {
    if (weights.weight[l] == 0) continue;
    entry["weights"][std::string(kLevelNames[l])] = weights.weight[l];
  }
  return entry;
}

std::string OutputName(LevelSet output) {
  std::string name;
  for (size_t l = 0; l < kLevels; ++l) {
    if (!output.has(static_cast<Level>(l))) continue;
    absl::StrAppend(&name, name.empty() ? "" : "+", AbslView(kLevelNames[l]));
  }
  return name;
}

}  // namespace espalier
