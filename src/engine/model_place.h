// Where the files of a model are: in its own folder, or, if it lives behind a
// server, in the folder that was named for its tokenizer.
//
//   ESP_ASSIGN_OR_RETURN(auto tokenizer,
//   Tokenizer::Load(PolicyFolder(models)));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_ENGINE_MODEL_PLACE_H_
#define ESPALIER_SRC_ENGINE_MODEL_PLACE_H_

#include <string>

#include "espalier/engine_options.h"

namespace espalier {

// The folder or GGUF file with the policy's tokenizer and chat template.
const std::string& PolicyFolder(const EngineOptions& models);
// The model that scores: the critic, or the policy if none is named.
const std::string& RewardModelName(const EngineOptions& models);
// The folder or GGUF file with its tokenizer and chat template.
const std::string& RewardFolder(const EngineOptions& models);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_MODEL_PLACE_H_
