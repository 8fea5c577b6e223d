#include "src/learn/export.h"

#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/safetensors.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(folder, ": cannot make the folder: ", error.message()));
}

// Keys that PEFT has had since its first release; the rest is its default.
std::string AdapterConfigJson(const LoraAdapter& adapter,
                              const std::string& base_model) {
  nlohmann::json targets = nlohmann::json::array();
  for (const std::string& target : adapter.options().Targets()) {
    targets.push_back(target + "_proj");
  }
  nlohmann::json json = {{"base_model_name_or_path", base_model},
                         {"bias", "none"},
                         {"fan_in_fan_out", false},
                         {"inference_mode", true},
                         {"init_lora_weights", true},
                         {"lora_dropout", 0.0},
                         {"modules_to_save", nullptr},
                         {"peft_type", "LORA"},
                         {"r", adapter.options().rank},
                         {"target_modules", targets},
                         {"task_type", "CAUSAL_LM"}};
  if (adapter.trains_reward_head()) json["modules_to_save"] = {"reward_head"};
  // PEFT declares it an integer but accepts any number.
  const double alpha = adapter.options().Alpha();
  if (alpha == std::floor(alpha) && alpha < 1e9) {
    json["lora_alpha"] = static_cast<int64_t>(alpha);
  } else {
    json["lora_alpha"] = alpha;
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace

absl::Status ExportCheckpoint(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder) {
  ESP_RETURN_IF_ERROR(MakeFolder(folder));
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

absl::Status ExportAdapter(const LoraAdapter& adapter,
                           const std::string& base_model,
                           const std::string& folder) {
  ESP_RETURN_IF_ERROR(MakeFolder(folder));
  const at::Tensor values = adapter.values();
  const float* flat = values.data_ptr<float>();
  std::vector<NamedTensor> tensors;
  for (const net::NetParameter& p : adapter.parameters()) {
    tensors.push_back({"base_model.model." + p.name, DType::kF32, p.shape,
                       std::as_bytes(std::span(flat + p.offset, p.size))});
  }
  ESP_RETURN_IF_ERROR(WriteFileAtomic(folder + "/adapter_config.json",
                                      AdapterConfigJson(adapter, base_model)));
  return WriteSafetensors(folder + "/adapter_model.safetensors", tensors,
                          {{"format", "pt"}});
}

}  // namespace espalier
