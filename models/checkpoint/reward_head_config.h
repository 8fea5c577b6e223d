// The entry "espalier_heads" of config.json: which levels Espalier's reward
// head gives, and how they combine.
//
//   {"reward": ["step", "window2", "path+outcome"],
//    "weights": {"bias": -0.5, "step": 1.2, "path": 2}}
//
// Entry i of "reward" is row i of reward_head.weight [outputs, hidden_size] and
// reward_head.bias [outputs]. With "ensemble": 5 there are 5 heads of these
// outputs: [5 outputs, hidden_size], head by head. Levels joined by + share an
// output: their targets are the same. "weights", if there, are those of the
// combination "learned" (search/tree/score_rule.h).
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_REWARD_HEAD_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_REWARD_HEAD_CONFIG_H_

#include <optional>
#include <vector>

#include "espalier/scores.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// More heads than this cost more than they tell.
inline constexpr int kMostHeads = 16;

struct RewardHeadConfig {
  std::vector<LevelSet> outputs;  // no level twice, at least one
  int ensemble = 1;               // 1 to kMostHeads
  LevelWeights weights;
};

// Nothing if the entry has another form, an unknown level, a level twice, or
// not 2 to kMostHeads heads.
std::optional<RewardHeadConfig> ParseRewardHead(const nlohmann::json& entry);

nlohmann::json RewardHeadJson(const std::vector<LevelSet>& outputs,
                              const LevelWeights& weights, int ensemble = 1);

// "step", "path+outcome".
std::string OutputName(LevelSet output);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_REWARD_HEAD_CONFIG_H_
