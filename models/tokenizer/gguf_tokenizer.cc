#include "models/tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/gguf.h"
#include "models/tokenizer/byte_bpe.h"
#include "nlohmann/json.hpp"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

// Kinds of tokens ("tokenizer.ggml.token_type"), those of SentencePiece.
constexpr int64_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4;

// The patterns of the tokenizers by the names that GGUF gives them, each as
// in the tokenizer.json that its model was published with.
struct CutStyle {
  std::string_view name;
  std::string_view pattern;  // "": GPT-2's
  bool ignore_merges = false;
  bool nfc = false;
  bool single_digits = false;  // cut off before the pattern is applied
};
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr CutStyle kStyles[] = {
    {"default", ""},
    {"gpt-2", ""},
    {"phi-2", ""},
    {"llama-bpe", kLlama3, true},
    {"llama3", kLlama3, true},
    {"llama-v3", kLlama3, true},
    {"smaug-bpe", kLlama3, true},
    {"qwen2", kQwen2, false, true},
    {"deepseek-r1-qwen", kQwen2, false, true},
    {"tekken", kTekken, true},
    {"smollm", "", false, false, true},
    {"starcoder", "", false, false, true},
};

// Looks up keys and words errors.
class Keys {
 public:
  explicit Keys(const GgufFile& file) : file_(file) {}

  const GgufValue* Find(const std::string& key) const {
    return file_.Find(key);
  }
  absl::Status Bad(const std::string& key, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": key ", key, ": ", what));
  }
  // A key with a text; `fallback` where it is absent.
  absl::StatusOr<std::string_view> Text(const std::string& key,
                                        std::string_view fallback) const {
    const GgufValue* value = Find(key);
    if (value == nullptr) return fallback;
    const auto text = value->is_array() ? std::nullopt : value->Text();
    if (text.has_value()) return *text;
    return Bad(key, absl::StrCat("expected a text, found ", value->Describe()));
  }
  // An array of which `has` holds for each element (an empty one's type does
  // not matter), of `size` elements unless that is 0.
  template <class Has>
  absl::StatusOr<const GgufValue*> Array(const std::string& key, size_t size,
                                         const char* of, Has has) const {
    const GgufValue* value = Find(key);
    const std::string found = value == nullptr ? "nothing" : value->Describe();
    if (value == nullptr || !value->is_array() ||
        (size != 0 && value->size() != size)) {
      return Bad(key, absl::StrCat("expected an array of ",
                                   size == 0 ? "" : absl::StrCat(size, " "), of,
                                   ", found ", found));
    }
    for (size_t i = 0; i < value->size(); ++i) {
      if (has(*value, i)) continue;
      return Bad(key, absl::StrCat("expected an array of ", of,
                                   ", found another value at ", i));
    }
    return value;
  }
  absl::StatusOr<const GgufValue*> Texts(const std::string& key) const {
    return Array(key, 0, "texts", [](const GgufValue& value, size_t i) {
      return value.Text(i).has_value();
    });
  }
  absl::StatusOr<const GgufValue*> Wholes(const std::string& key,
                                          size_t size) const {
    return Array(key, size, "whole numbers",
                 [](const GgufValue& value, size_t i) {
                   return value.Whole(i).has_value();
                 });
  }

 private:
  const GgufFile& file_;
};

absl::StatusOr<PreTokenizer> PreTokenizerOf(const CutStyle& style) {
  if (!style.single_digits) {
    return PreTokenizer::FromPattern(style.pattern.empty() ? kGpt2Pattern
                                                           : style.pattern);
  }
  using nlohmann::json;
  return PreTokenizer::FromJson(
      {{"type", "Sequence"},
       {"pretokenizers",
        json::array({{{"type", "Digits"}, {"individual_digits", true}},
                     {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"use_regex", true}}})}});
}

absl::Status AddTokens(const Keys& keys, ByteBpeSpec& spec) {
  const std::string key = "tokenizer.ggml.tokens";
  ESP_ASSIGN_OR_RETURN(const GgufValue* tokens, keys.Texts(key));
  const GgufValue* kinds = nullptr;
  if (keys.Find("tokenizer.ggml.token_type") != nullptr) {
    ESP_ASSIGN_OR_RETURN(
        kinds, keys.Wholes("tokenizer.ggml.token_type", tokens->size()));
  }
  for (size_t i = 0; i < tokens->size(); ++i) {
    const std::string text(*tokens->Text(i));
    const auto id = static_cast<int32_t>(i);
    const int64_t kind = kinds == nullptr ? kNormal : *kinds->Whole(i);
    const bool special = kind == kControl || kind == kUnknown;
    if (kind == kNormal || kind == kUserDefined) {
      spec.vocab.emplace_back(text, id);
    }
    if ((special || kind == kUserDefined) && !text.empty()) {
      spec.added.push_back({.id = id, .content = text, .special = special});
    }
  }
  return absl::OkStatus();
}

absl::Status AddMerges(const Keys& keys, ByteBpeSpec& spec) {
  const std::string key = "tokenizer.ggml.merges";
  ESP_ASSIGN_OR_RETURN(const GgufValue* merges, keys.Texts(key));
  spec.merges.reserve(merges->size());
  for (size_t i = 0; i < merges->size(); ++i) {
    const std::string_view merge = *merges->Text(i);
    // A token may begin with a space, though byte-level spelling has none.
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) {
      return keys.Bad(key, absl::StrCat("merge ", i,
                                        ": expected two tokens with a space "
                                        "between, found \"",
                                        AbslView(merge.substr(0, 80)), "\""));
    }
    spec.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ByteLevel(const Keys& keys) {
  const std::string key = "tokenizer.ggml.pre";
  ESP_ASSIGN_OR_RETURN(const std::string_view pre, keys.Text(key, "default"));
  const auto style =
      std::find_if(std::begin(kStyles), std::end(kStyles),
                   [&](const CutStyle& known) { return known.name == pre; });
  if (style == std::end(kStyles)) {
    std::vector<std::string_view> known;
    for (const CutStyle& each : kStyles) known.push_back(each.name);
    return keys.Bad(key, UnknownName("way of cutting text", pre, known));
  }
  ByteBpeSpec spec;
  spec.ignore_merges = style->ignore_merges;
  spec.nfc = style->nfc;
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer, PreTokenizerOf(*style));
  ESP_RETURN_IF_ERROR(AddTokens(keys, spec));
  ESP_RETURN_IF_ERROR(AddMerges(keys, spec));
  return ByteBpe::Create(std::move(spec));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> FromKeys(const Keys& keys) {
  const GgufValue* json = keys.Find("tokenizer.huggingface.json");
  if (json != nullptr && json->Text().has_value()) {
    return ByteBpe::FromJson(*json->Text());
  }
  const std::string key = "tokenizer.ggml.model";
  ESP_ASSIGN_OR_RETURN(const std::string_view model, keys.Text(key, ""));
  if (model == "gpt2") return ByteLevel(keys);
  return keys.Bad(
      key, absl::StrCat("found ", model.empty() ? "nothing" : AbslView(model),
                        ", supported: gpt2"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadGgufTokenizer(
    const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  auto tokenizer = FromKeys(Keys(file));
  if (!tokenizer.ok() &&
      tokenizer.status().message().find(path) == absl::string_view::npos) {
    return absl::Status(tokenizer.status().code(),
                        absl::StrCat(path, ": ", tokenizer.status().message()));
  }
  return tokenizer;
}

}  // namespace espalier
