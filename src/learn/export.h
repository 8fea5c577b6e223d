// Writes a trained net as a Hugging Face folder: config.json, model.safetensors
// (bf16) and tokenizer.json. Writes a trained adapter as PEFT's folder of a
// LoRA checkpoint: adapter_config.json and adapter_model.safetensors (fp32)
// with the names base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight
// and so on, which PeftModel.from_pretrained(base, folder) loads. Writes a
// reward model with one output as a token classifier, the published form of a
// reward model of TRL's PRMTrainer.
#ifndef ESPALIER_SRC_LEARN_EXPORT_H_
#define ESPALIER_SRC_LEARN_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/lora.h"

namespace espalier {

// Creates the folder if needed; every file is replaced atomically.
absl::Status ExportCheckpoint(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder);

// Same, as LlamaForTokenClassification with two labels: score.weight [2,
// hidden_size] and score.bias [2] in place of reward_head.* and lm_head.weight.
// Label 1 is right: with w and b of the one output the rows are -w/2 and w/2,
// so that its softmax is sigmoid(w x + b). Requires a reward head of one
// output.
absl::Status ExportClassifier(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder);

// As ExportCheckpoint. `base_model` is the folder of the base weights.
absl::Status ExportAdapter(const LoraAdapter& adapter,
                           const std::string& base_model,
                           const std::string& folder);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_EXPORT_H_
