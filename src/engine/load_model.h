// A checkpoint with all that serves it: trunk, tokenizer, backend.
//
//   Executor executor(threads);
//   ESP_ASSIGN_OR_RETURN(LoadedModel model,
//                        LoadModel("models/zoo/stories", kv_bytes, executor));
//   model.backend->Submit(...);
#ifndef ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
#define ESPALIER_SRC_ENGINE_LOAD_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/cpu/trunk.h"
#include "models/schedule/trunk_backend.h"
#include "models/tokenizer/tokenizer.h"
#include "src/base/executor.h"

namespace espalier {

// The backend refers to the other two. Externally synchronised.
struct LoadedModel {
  std::unique_ptr<Trunk> trunk;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<TrunkBackend> backend;
};

// `executor` outlives the model. InvalidArgument for a tokenizer with more
// tokens than the model has.
absl::StatusOr<LoadedModel> LoadModel(const std::string& folder,
                                      int64_t kv_bytes, Executor& executor);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
