#include "src/engine/load_model.h"

#include "absl/strings/str_cat.h"
#include "src/base/status_macros.h"

namespace espalier {

absl::StatusOr<LoadedModel> LoadModel(const std::string& folder,
                                      int64_t kv_bytes, Executor& executor) {
  LoadedModel model;
  ESP_ASSIGN_OR_RETURN(model.trunk, Trunk::Load(folder));
  ESP_ASSIGN_OR_RETURN(model.tokenizer, Tokenizer::Load(folder));
  if (model.tokenizer->vocab_size() > model.trunk->config().vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder, ": the tokenizer has ", model.tokenizer->vocab_size(),
        " tokens, the model's embedding only ",
        model.trunk->config().vocab_size, "; they do not belong together"));
  }
  model.backend =
      std::make_unique<TrunkBackend>(*model.trunk, *model.tokenizer, executor,
                                     TrunkBackendOptions{.kv_bytes = kv_bytes});
  return model;
}

}  // namespace espalier
