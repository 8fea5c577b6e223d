#include "models/checkpoint/llama_weights.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/checkpoint/safetensors.h"

namespace espalier {
namespace {

constexpr char kEmbedding[] = "model.embed_tokens.weight";
constexpr char kLmHead[] = "lm_head.weight";

// Redundant tensors that some exporters add: rotary frequencies, and the output
// matrix if it repeats the embedding.
bool IsRedundant(const SafetensorsFile& file, const std::string& name,
                 const TrunkConfig& config) {
  if (absl::EndsWith(name, ".rotary_emb.inv_freq")) return true;
  if (!config.tied_embeddings || name != kLmHead) return false;
  const auto a = file.data(kLmHead), b = file.data(kEmbedding);
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

std::vector<LlamaTensor> LlamaTensors(const TrunkConfig& c,
                                      LlamaWeights& weights) {
  weights.layers.resize(static_cast<size_t>(c.layers));
  const int64_t d = c.hidden_size, f = c.intermediate_size;
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  std::vector<LlamaTensor> out;
  out.push_back({kEmbedding, {c.vocab_size, d}, &weights.embedding});
  for (int i = 0; i < c.layers; ++i) {
    LlamaLayerWeights& layer = weights.layers[static_cast<size_t>(i)];
    const auto add = [&](const char* name, std::vector<int64_t> shape,
                         std::vector<float>* values) {
      out.push_back({absl::StrCat("model.layers.", i, ".", name, ".weight"),
                     std::move(shape), values});
    };
    add("input_layernorm", {d}, &layer.input_norm);
    add("self_attn.q_proj", {q, d}, &layer.query);
    add("self_attn.k_proj", {kv, d}, &layer.key);
    add("self_attn.v_proj", {kv, d}, &layer.value);
    add("self_attn.o_proj", {d, q}, &layer.output);
    add("post_attention_layernorm", {d}, &layer.post_norm);
    add("mlp.gate_proj", {f, d}, &layer.gate);
    add("mlp.up_proj", {f, d}, &layer.up);
    add("mlp.down_proj", {d, f}, &layer.down);
  }
  out.push_back({"model.norm.weight", {d}, &weights.final_norm});
  if (!c.tied_embeddings) {
    out.push_back({kLmHead, {c.vocab_size, d}, &weights.lm_head});
  }
  if (c.reward_head) {
    const auto rows = static_cast<int64_t>(c.reward_rows());
    out.push_back({"reward_head.weight", {rows, d}, &weights.reward_weight});
    out.push_back({"reward_head.bias", {rows}, &weights.reward_bias});
  }
  return out;
}

absl::StatusOr<LlamaWeights> LoadLlamaWeights(const std::string& folder,
                                              const TrunkConfig& config) {
  const std::filesystem::path base(folder);
  const std::string path = base / "model.safetensors";
  std::error_code error;
  if (!std::filesystem::exists(path, error) &&
      std::filesystem::exists(base / "model.safetensors.index.json", error)) {
    return absl::UnimplementedError(
        absl::StrCat(path,
                     ": expected one file with all tensors, found an index of "
                     "several; merge them into one file"));
  }
  ESP_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  // The first missing tensor stops the work for a config with absurd extents.
  LlamaWeights weights;
  if (static_cast<size_t>(config.layers) > file.tensors().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected the tensors of ", config.layers,
                     " layers (num_hidden_layers), found ",
                     file.tensors().size(), " tensors in all"));
  }
  std::set<std::string> expected;
  for (const LlamaTensor& tensor : LlamaTensors(config, weights)) {
    const auto found = file.tensors().find(tensor.name);
    if (found == file.tensors().end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": expected tensor ", tensor.name, " ",
                       ShapeText(tensor.shape), ", found no such tensor"));
    }
    if (found->second.shape != tensor.shape) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": tensor ", tensor.name, ": expected shape ",
                       ShapeText(tensor.shape), " from config.json, found ",
                       ShapeText(found->second.shape)));
    }
    ESP_ASSIGN_OR_RETURN(*tensor.values, file.Floats(tensor.name));
    expected.insert(tensor.name);
  }
  for (const auto& [name, info] : file.tensors()) {
    if (expected.contains(name) || IsRedundant(file, name, config)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found tensor ", name, " ", ShapeText(info.shape),
                     " that a LlamaForCausalLM with this config.json does not "
                     "have: the folder holds another model or settings"));
  }
  return weights;
}

}  // namespace espalier
