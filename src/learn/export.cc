#include "src/learn/export.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/check.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
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

struct Weights {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

std::vector<Weights> OwnTensors(const net::LlamaNet& net) {
  const at::Tensor weights = net.weights();
  const float* flat = weights.data_ptr<float>();
  std::vector<Weights> out;
  for (const net::NetParameter& p : net.parameters()) {
    const float* begin = flat + p.offset;
    out.push_back({p.name, p.shape, std::vector<float>(begin, begin + p.size)});
  }
  return out;
}

// config.json, tokenizer.json and the tensors in bf16.
absl::Status WriteFolder(const std::vector<Weights>& weights,
                         const std::string& config,
                         const std::string& tokenizer_json,
                         const std::string& folder) {
  ESP_RETURN_IF_ERROR(MakeFolder(folder));
  std::vector<std::vector<uint16_t>> storage;
  std::vector<NamedTensor> tensors;
  storage.reserve(weights.size());
  for (const Weights& tensor : weights) {
    auto& bits = storage.emplace_back();
    bits.reserve(tensor.values.size());
    for (const float value : tensor.values) bits.push_back(FloatToBf16(value));
    tensors.push_back({tensor.name, DType::kBF16, tensor.shape,
                       std::as_bytes(std::span(bits))});
  }
  ESP_RETURN_IF_ERROR(WriteFileAtomic(folder + "/config.json", config));
  ESP_RETURN_IF_ERROR(
      WriteFileAtomic(folder + "/tokenizer.json", tokenizer_json));
  return WriteSafetensors(folder + "/model.safetensors", tensors,
                          {{"format", "pt"}});
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
  return WriteFolder(OwnTensors(net), LlamaConfigJson(net.config()),
                     tokenizer_json, folder);
}

absl::Status ExportClassifier(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder) {
  ESP_CHECK(net.config().reward_head &&
            net.config().reward_outputs.size() == 1);
  std::vector<Weights> tensors;
  for (Weights& tensor : OwnTensors(net)) {
    if (tensor.name == "lm_head.weight") continue;
    if (tensor.name.starts_with("reward_head.")) {
      tensor.name.replace(0, std::strlen("reward_head"), "score");
      tensor.shape[0] = 2;
      for (float& value : tensor.values) value /= -2;
      const size_t size = tensor.values.size();
      for (size_t i = 0; i < size; ++i) {
        tensor.values.push_back(-tensor.values[i]);
      }
    }
    tensors.push_back(std::move(tensor));
  }
  nlohmann::json config = ParseJsonOrNull(LlamaConfigJson(net.config()));
  config.erase("espalier_heads");
  config["architectures"] = {"LlamaForTokenClassification"};
  config["num_labels"] = 2;
  config["id2label"] = {{"0", "LABEL_0"}, {"1", "LABEL_1"}};
  config["label2id"] = {{"LABEL_0", 0}, {"LABEL_1", 1}};
  return WriteFolder(tensors, JsonText(config, 2) + "\n", tokenizer_json,
                     folder);
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
