// A reward model in a checkpoint, for searches whose policy is not a model of
// the engine.
//
//   const auto reward =
//       LoadRewardModel({.critic = "models/Qwen2.5-Math-PRM-7B"}, *task);
//   SolveWith(my_policy, reward->get(), nullptr, problem, *task,
//             {.method = "beam"});
#ifndef ESPALIER_API_LOAD_REWARD_MODEL_H_
#define ESPALIER_API_LOAD_REWARD_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "espalier/engine_options.h"
#include "espalier/reward_model.h"
#include "espalier/task.h"

namespace espalier {

// The reward model `models.critic`, in this process or behind a server, read as
// an engine reads it: its format, its tokenizer, its calibration. Without a
// critic the heads of `models.policy` score; no other model is loaded, and
// fields that say how a policy is searched are ignored. `task` renders prompts
// and says where steps end, and outlives the model. Equal responses have equal
// scores, whatever was scored before. Errors as from Engine::Create.
absl::StatusOr<std::unique_ptr<RewardModel>> LoadRewardModel(
    const EngineOptions& models, const Task& task);

}  // namespace espalier

#endif  // ESPALIER_API_LOAD_REWARD_MODEL_H_
