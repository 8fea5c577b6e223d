#include "models/checkpoint/trunk_config_json.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/hf_network.h"
#include "models/checkpoint/reward_head_config.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// The class that the configuration names; rejects others.
HfClass FindClass(ConfigReader& in) {
  std::string names;
  for (const HfClass& row : HfClasses()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(row.name));
  }
  const json* list = in.Find("architectures");
  const json* type = in.Find("model_type");
  for (const HfClass& row : HfClasses()) {
    if (list != nullptr ? *list == json::array({row.name})
                        : type != nullptr && *type == json(row.model_type)) {
      return row;
    }
  }
  if (list == nullptr && type != nullptr) {
    std::string types;
    for (const HfClass& row : HfClasses()) {
      if (row.head != HeadKind::kNone) continue;
      absl::StrAppend(&types, types.empty() ? "" : ", ",
                      AbslView(row.model_type));
    }
    in.Refuse("model_type", *type, types);
  }
  in.Refuse("architectures", list == nullptr ? json() : *list,
            absl::StrCat("a list of one of ", names));
  return HfClasses()[0];
}

// The causal language model whose network a class of any head has: the class
// begins with its name, or model_type is its own.
HfClass FindBody(ConfigReader& in) {
  const json* list = in.Find("architectures");
  const json* type = in.Find("model_type");
  const std::string found = list != nullptr && list->is_array() &&
                                    list->size() == 1 &&
                                    list->front().is_string()
                                ? list->front().get<std::string>()
                                : "";
  std::string bodies;
  for (const HfClass& row : HfClasses()) {
    if (row.head != HeadKind::kNone) continue;
    const std::string_view name =
        row.name.substr(0, row.name.find("ForCausalLM"));
    if (name == row.name) continue;  // no published reward models
    absl::StrAppend(&bodies, bodies.empty() ? "" : ", ", AbslView(name));
    if (absl::StartsWith(found, absl::StrCat(AbslView(name), "For"))) {
      return row;
    }
  }
  for (const HfClass& row : HfClasses()) {
    if (row.head == HeadKind::kNone &&
        row.architecture != Architecture::kGpt2 && type != nullptr &&
        *type == json(row.model_type)) {
      return row;
    }
  }
  in.Refuse("architectures", list == nullptr ? json() : *list,
            absl::StrCat("reward models on the networks ", bodies));
  return HfClasses()[0];
}

// Token ids under `key`; they must be below the vocabulary size.
std::vector<int32_t> TokenIds(ConfigReader& in, const char* key,
                              int vocab_size) {
  const json* value = in.Find(key);
  if (value == nullptr) return {};
  const json list = value->is_array() ? *value : json::array({*value});
  std::vector<int32_t> ids;
  for (const json& id : list) {
    if (!id.is_number_unsigned() ||
        id.get<uint64_t>() >= static_cast<uint64_t>(vocab_size)) {
      ids.clear();
      break;
    }
    ids.push_back(id.get<int32_t>());
  }
  if (ids.empty()) {
    in.Refuse(key, *value,
              absl::StrCat("an id below vocab_size ", vocab_size,
                           ", a list of such ids, or null"));
  }
  return ids;
}

void AddEnds(const std::vector<int32_t>& ids, TrunkConfig& config) {
  for (const int32_t id : ids) {
    if (config.end_token < 0) {
      config.end_token = id;
    } else if (!config.IsEnd(id)) {
      config.more_end_tokens.push_back(id);
    }
  }
}

void ReadEndTokens(ConfigReader& in, int fallback, TrunkConfig& config) {
  constexpr char kKey[] = "eos_token_id";
  if (!in.Has(kKey) && fallback < config.vocab_size) {
    config.end_token = fallback;
  }
  AddEnds(TokenIds(in, kKey, config.vocab_size), config);
}

void ReadHead(ConfigReader& in, HeadKind head, TrunkConfig& config) {
  config.head = head;
  config.lm_head = head == HeadKind::kNone;
  if (head != HeadKind::kNone) {
    config.head_labels = in.ExtentOrNull("num_labels", 2);
    if (const json* labels = in.Find("id2label")) {
      if (!labels->is_object() || labels->empty()) {
        in.Refuse("id2label", *labels, "an object of labels");
      }
      config.head_labels =
          static_cast<int>(std::max<size_t>(1, labels->size()));
    }
    config.head_bias = head == HeadKind::kTokenClassification;
  }
  const json* ours = in.Find("espalier_heads");
  if (ours == nullptr || (ours->is_object() && ours->empty())) return;
  const std::optional<RewardHeadConfig> read = ParseRewardHead(*ours);
  if (!read || head != HeadKind::kNone) {
    in.Refuse("espalier_heads", *ours,
              "{\"reward\": [\"step\",\"path\"]}, or other levels (path, step, "
              "outcome, window2, window3, window4), each once, together with a "
              "language model's head; of an ensemble also \"ensemble\": 2 to "
              "16");
    return;
  }
  config.reward_head = true;
  config.reward_outputs = read->outputs;
  config.level_weights = read->weights;
  config.head = HeadKind::kReward;
  config.reward_ensemble = read->ensemble;
  config.head_labels = config.reward_rows();
  config.head_bias = true;
}

// Of a class that also reads images: puts the keys of its text part in front.
bool TakeTextPart(json& config) {
  const auto list = config.find("architectures");
  const auto text = config.find("text_config");
  if (list == config.end() || text == config.end() || !text->is_object() ||
      *list != json::array({std::string(kGemma3WithImages)})) {
    return false;
  }
  const json part = *text;
  for (const auto& [key, value] : part.items()) {
    if (key != "architectures") config[key] = value;
  }
  return true;
}

}  // namespace

std::string ClassName(const TrunkConfig& config) {
  const HeadKind head = config.lm_head ? HeadKind::kNone : config.head;
  for (const HfClass& row : HfClasses()) {
    if (row.architecture == config.architecture && row.head == head) {
      return std::string(row.name);
    }
  }
  return "network";
}

absl::StatusOr<TrunkConfig> ParseTrunkConfig(std::string_view text,
                                             const std::string& file,
                                             CheckpointPart part) {
  ESP_ASSIGN_OR_RETURN(json parsed, ParseConfigObject(text, file));
  const bool reads_images = TakeTextPart(parsed);
  ConfigReader in(parsed, file);
  const bool all = part == CheckpointPart::kAll;
  const HfClass row = all ? FindClass(in) : FindBody(in);
  if (!in.status().ok()) return in.status();
  TrunkConfig config;
  ReadHfNetwork(in, row.architecture, config);
  config.reads_images = reads_images;
  if (all) {
    ReadHead(in, row.head, config);
  } else {
    config.lm_head = part == CheckpointPart::kBodyAndLmHead;
  }
  ReadEndTokens(in, DefaultEndToken(row.architecture), config);
  if (const json* found = in.Find("quantization_config")) {
    in.Refuse("quantization_config", *found, "null or absent");
  }
  if (!in.status().ok()) return in.status();
  return config;
}

absl::Status AddEndTokens(std::string_view text, const std::string& file,
                          TrunkConfig& config) {
  ESP_ASSIGN_OR_RETURN(const json parsed, ParseConfigObject(text, file));
  ConfigReader in(parsed, file);
  AddEnds(TokenIds(in, "eos_token_id", config.vocab_size), config);
  return in.status();
}

namespace {

// The content of a folder without config.json, for messages.
std::string FolderText(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  bool data = false;
  std::string gguf;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    const std::string ending = entry.path().extension();
    names.push_back(name);
    data |= ending == ".parquet" || ending == ".jsonl" || ending == ".csv";
    if (ending == ".gguf" && (gguf.empty() || name < gguf)) gguf = name;
  }
  if (names.empty()) return "an empty folder";
  if (!gguf.empty()) {
    return absl::StrCat(
        "a folder without config.json; to use the GGUF file in it, name ",
        (folder / gguf).string());
  }
  return absl::StrCat("a folder without config.json",
                      data ? ", whose files are a data set, not a model" : "");
}

// A hint for a name that is not a folder here.
std::string MissingNote(const std::string& name) {
  const std::string note = ForeignName(name, Wanted::kModel);
  if (!note.empty() || name.find('/') != name.npos) return note;
  return absl::StrCat(
      "; download a model of the Hugging Face hub first, by its full name:\n  "
      "hf download OWNER/",
      name, " --local-dir ", name);
}

}  // namespace

absl::StatusOr<TrunkConfig> ReadTrunkConfig(const std::string& folder,
                                            CheckpointPart part) {
  const std::filesystem::path base(folder);
  std::error_code error;
  const auto found = [&](const std::string& what) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": expected a model folder with config.json and "
                     "model.safetensors, or a GGUF file, found ",
                     what));
  };
  const bool there = std::filesystem::exists(base, error);
  if (error) return FileError("open", folder, error.value());
  if (!there) return found("nothing" + MissingNote(folder));
  if (!std::filesystem::is_directory(base, error)) {
    std::string note = ForeignFileNote(folder, Wanted::kModel);
    const std::filesystem::path around = base.parent_path();
    if (note.empty() && std::filesystem::is_regular_file(base, error) &&
        std::filesystem::exists(around / "config.json", error)) {
      note = "part of a model; name its folder, " +
             (around.empty() ? "." : around.string());
    }
    return found("a file that is not GGUF" + (note.empty() ? "" : ": " + note));
  }
  const std::string path = base / "config.json";
  if (!std::filesystem::exists(path, error)) {
    if (error) return FileError("open", path, error.value());
    return found(FolderText(base));
  }
  // A pipe might block forever.
  if (!std::filesystem::is_regular_file(path, error)) {
    return found("a config.json that is not a file");
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ParseTrunkConfig(text, path, part));
  const std::string generation = base / "generation_config.json";
  if (std::filesystem::is_regular_file(generation, error)) {
    ESP_ASSIGN_OR_RETURN(const std::string more, ReadFile(generation));
    ESP_RETURN_IF_ERROR(AddEndTokens(more, generation, config));
  }
  return config;
}

}  // namespace espalier
