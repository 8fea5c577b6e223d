#include "src/learn/export.h"

#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/safetensors.h"
#include "src/base/bfloat16.h"
#include "src/base/files.h"
#include "src/base/status_macros.h"

namespace espalier {

absl::Status ExportCheckpoint(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(folder, ": cannot make the folder: ", error.message()));
  }
  const at::Tensor weights = net.weights();
  const float* flat = weights.data_ptr<float>();
  std::vector<std::vector<uint16_t>> storage;
  std::vector<NamedTensor> tensors;
  storage.reserve(net.parameters().size());
  for (const net::NetParameter& parameter : net.parameters()) {
    auto& bits = storage.emplace_back(parameter.size);
    for (size_t i = 0; i < parameter.size; ++i) {
      bits[i] = FloatToBf16(flat[parameter.offset + i]);
    }
    tensors.push_back({parameter.name, DType::kBF16, parameter.shape,
                       std::as_bytes(std::span(bits))});
  }
  ESP_RETURN_IF_ERROR(
      WriteFileAtomic(folder + "/config.json", LlamaConfigJson(net.config())));
  ESP_RETURN_IF_ERROR(
      WriteFileAtomic(folder + "/tokenizer.json", tokenizer_json));
  return WriteSafetensors(folder + "/model.safetensors", tensors,
                          {{"format", "pt"}});
}

}  // namespace espalier
