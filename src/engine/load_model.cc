#include "src/engine/load_model.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace espalier {

namespace {

absl::StatusOr<WeightChoice> ParseWeights(const std::string& name) {
  if (name == "auto") return WeightChoice::kAuto;
  if (name == "fp32") return WeightChoice::kFp32;
  if (name == "bf16") return WeightChoice::kBf16;
  if (name == "int8") return WeightChoice::kInt8;
  if (name == "int4") return WeightChoice::kInt4;
  return absl::InvalidArgumentError(absl::StrCat(
      "weights \"", name, "\": expected auto, fp32, bf16, int8 or int4"));
}

}  // namespace

absl::StatusOr<LoadedModel> LoadModel(const std::string& path,
                                      const LoadOptions& options,
                                      Executor& executor) {
  LoadedModel model;
  ESP_ASSIGN_OR_RETURN(const WeightChoice weights,
                       ParseWeights(options.weights));
  ESP_ASSIGN_OR_RETURN(model.trunk,
                       Trunk::Load(path, {.device = options.device,
                                          .weights = weights,
                                          .part = options.part,
                                          .kv_bytes = options.kv_bytes,
                                          .executor = &executor}));
  ESP_ASSIGN_OR_RETURN(model.tokenizer, Tokenizer::Load(path));
  if (model.tokenizer->vocab_size() > model.trunk->config().vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": the tokenizer has ", model.tokenizer->vocab_size(),
        " tokens, the model's embedding only ",
        model.trunk->config().vocab_size, "; they do not belong together"));
  }
  model.backend = std::make_unique<TrunkBackend>(
      *model.trunk, *model.tokenizer, executor,
      TrunkBackendOptions{.kv_bytes = options.kv_bytes});
  return model;
}

}  // namespace espalier
