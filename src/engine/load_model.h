// A checkpoint and everything that serves it: trunk, tokenizer, backend.
//
//   Executor executor(threads);
//   ESP_ASSIGN_OR_RETURN(LoadedModel model,
//                        LoadModel("models/zoo/stories", {}, executor));
//   model.backend->Submit(...);
#ifndef ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
#define ESPALIER_SRC_ENGINE_LOAD_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "models/schedule/trunk_backend.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

// The backend refers to the other two. Externally synchronised.
struct LoadedModel {
  std::unique_ptr<Trunk> trunk;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<TrunkBackend> backend;
};

struct LoadOptions {
  // "cpu", "cuda", "cuda:1" or "torch-cpu" (models/trunk/load_trunk.h).
  std::string device = "cpu";
  int64_t kv_bytes = int64_t{2} << 30;
  // "auto", "fp32", "bf16", "int8" or "int4" (TrunkOptions::weights).
  std::string weights = "auto";
  CheckpointPart part = CheckpointPart::kAll;
};

// `executor` outlives the model. InvalidArgument for a tokenizer with more
// tokens than the model has, and for an unknown value of `weights`.
absl::StatusOr<LoadedModel> LoadModel(const std::string& path,
                                      const LoadOptions& options,
                                      Executor& executor);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
