#include "models/tokenizer/tokenizer_config.h"

#include <filesystem>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "models/tokenizer/json_fields.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The object in FOLDER/NAME; null if there is no such file.
absl::StatusOr<json> ReadObject(const std::string& folder, const char* name) {
  const std::string path = (fs::path(folder) / name).string();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return json();
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<json> value = ParseTokenizerJson(text);
  if (!value.ok()) return InFile(path, value.status());
  if (!value->is_object()) {
    return InFile(path, WrongType("the file", "an object", *value));
  }
  return value;
}

// A token is given as its text or as an object with it.
std::string TokenText(const json& config, const char* key) {
  const json& value = JsonField(config, key);
  return value.is_object() ? TextField(value, "content")
                           : TextField(config, key);
}

std::optional<bool> MaybeBool(const json& config, const char* key) {
  const json& value = JsonField(config, key);
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

absl::Status ReadAddedDecoder(const json& decoder, TokenizerConfig& config) {
  if (decoder.is_null()) return absl::OkStatus();
  if (!decoder.is_object()) {
    return WrongType("added_tokens_decoder", "an object of id: token", decoder);
  }
  for (const auto& [key, value] : decoder.items()) {
    int32_t id = -1;
    const std::string content = TextField(value, "content");
    if (!absl::SimpleAtoi(key, &id) || content.empty()) {
      return WrongType(absl::StrCat("added_tokens_decoder[\"", key, "\"]"),
                       "an id with an object that has a content", value);
    }
    config.added.push_back(
        {.id = id,
         .content = content,
         .special = BoolField(value, "special", false),
         .single_word = BoolField(value, "single_word", false),
         .lstrip = BoolField(value, "lstrip", false),
         .rstrip = BoolField(value, "rstrip", false),
         .normalized = BoolField(value, "normalized", false)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TokenizerConfig> ReadTokenizerConfig(const std::string& folder) {
  TokenizerConfig config;
  ESP_ASSIGN_OR_RETURN(const json model, ReadObject(folder, "config.json"));
  config.model_type = TextField(model, "model_type");
  constexpr char kName[] = "tokenizer_config.json";
  ESP_ASSIGN_OR_RETURN(const json value, ReadObject(folder, kName));
  config.tokenizer_class = TextField(value, "tokenizer_class");
  config.bos = TokenText(value, "bos_token");
  config.eos = TokenText(value, "eos_token");
  config.pad = TokenText(value, "pad_token");
  config.add_bos = MaybeBool(value, "add_bos_token");
  config.add_eos = MaybeBool(value, "add_eos_token");
  const absl::Status added =
      ReadAddedDecoder(JsonField(value, "added_tokens_decoder"), config);
  if (!added.ok()) return InFile((fs::path(folder) / kName).string(), added);
  return config;
}

std::vector<AddedToken> JoinAdded(std::vector<AddedToken> tokens,
                                  const std::vector<AddedToken>& more) {
  absl::flat_hash_set<int32_t> known;
  for (const AddedToken& token : tokens) known.insert(token.id);
  for (const AddedToken& token : more) {
    if (known.insert(token.id).second) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace espalier
