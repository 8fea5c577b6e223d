#include "models/tokenizer/gguf_tokenizer.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/gguf.h"
#include "models/tokenizer/byte_bpe.h"
#include "models/tokenizer/json_fields.h"
#include "models/tokenizer/sentencepiece.pb.h"
#include "models/tokenizer/sentencepiece_file.h"
#include "models/tokenizer/tokenizer_config.h"
#include "models/tokenizer/tokenizer_json.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Token types ("tokenizer.ggml.token_type"), numbered as in SentencePiece.
constexpr int64_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4,
                  kUnused = 5, kByte = 6;

// The patterns of the tokenizers by their names in GGUF, each as in the
// tokenizer.json published with the model.
struct CutStyle {
  std::string_view name;
  std::string_view pattern;
  bool ignore_merges = false;
  bool nfc = false;
  bool single_digits = false;  // cut before the pattern is applied
};
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const CutStyle kStyles[] = {
    {"default", kGpt2Pattern},
    {"gpt-2", kGpt2Pattern},
    {"phi-2", kGpt2Pattern},
    {"llama-bpe", kLlama3Pattern, true},
    {"llama3", kLlama3Pattern, true},
    {"llama-v3", kLlama3Pattern, true},
    {"smaug-bpe", kLlama3Pattern, true},
    {"qwen2", kQwen2Pattern, false, true},
    {"deepseek-r1-qwen", kQwen2Pattern, false, true},
    {"tekken", kTekken, true},
    {"smollm", kGpt2Pattern, false, false, true},
    {"starcoder", kGpt2Pattern, false, false, true},
};

// Looks up keys and formats errors.
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
  // A text key; `fallback` if it is missing.
  absl::StatusOr<std::string_view> Text(const std::string& key,
                                        std::string_view fallback) const {
    const GgufValue* value = Find(key);
    if (value == nullptr) return fallback;
    const auto text = value->is_array() ? std::nullopt : value->Text();
    if (text.has_value()) return *text;
    return Bad(key, absl::StrCat("expected a text, found ", value->Describe()));
  }
  absl::StatusOr<bool> Flag(const std::string& key, bool fallback) const {
    const GgufValue* value = Find(key);
    if (value == nullptr) return fallback;
    const auto flag = value->is_array() ? std::nullopt : value->Flag();
    if (flag.has_value()) return *flag;
    return Bad(
        key, absl::StrCat("expected true or false, found ", value->Describe()));
  }
  // An array for whose elements `has` holds (the type of an empty one does not
  // matter), of `size` elements unless that is 0.
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
  absl::StatusOr<const GgufValue*> Numbers(const std::string& key,
                                           size_t size) const {
    return Array(key, size, "numbers", [](const GgufValue& value, size_t i) {
      return value.Number(i).has_value();
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
    return PreTokenizer::FromPattern(style.pattern);
  }
  return PreTokenizer::FromJson(
      {{"type", "Sequence"},
       {"pretokenizers",
        json::array({{{"type", "Digits"}, {"individual_digits", true}},
                     {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"use_regex", true}}})}});
}

// Texts and types of the tokens, by id.
struct TokenList {
  const GgufValue* texts = nullptr;
  const GgufValue* kinds = nullptr;  // null: all are normal

  size_t size() const { return texts->size(); }
  std::string text(size_t id) const { return std::string(*texts->Text(id)); }
  int64_t kind(size_t id) const {
    return kinds == nullptr ? kNormal : *kinds->Whole(id);
  }
};

absl::StatusOr<TokenList> ReadTokens(const Keys& keys) {
  TokenList list;
  ESP_ASSIGN_OR_RETURN(list.texts, keys.Texts("tokenizer.ggml.tokens"));
  if (keys.Find("tokenizer.ggml.token_type") != nullptr) {
    ESP_ASSIGN_OR_RETURN(list.kinds,
                         keys.Wholes("tokenizer.ggml.token_type", list.size()));
  }
  return list;
}

// The tokens around a text; `add_bos` is the default if the file does not say.
absl::StatusOr<TextMarks> ReadMarks(const Keys& keys, const TokenList& tokens,
                                    bool add_bos) {
  TextMarks marks;
  for (const auto& [key, id] :
       {std::pair("tokenizer.ggml.bos_token_id", &marks.bos),
        std::pair("tokenizer.ggml.eos_token_id", &marks.eos),
        std::pair("tokenizer.ggml.padding_token_id", &marks.pad)}) {
    const GgufValue* value = keys.Find(key);
    if (value == nullptr) continue;
    const int64_t found = value->is_array() ? -1 : value->Whole().value_or(-1);
    if (found < 0 || static_cast<size_t>(found) >= tokens.size()) {
      // Some models name a padding token that they do not have.
      if (id == &marks.pad) continue;
      return keys.Bad(key, absl::StrCat("expected an id below ", tokens.size(),
                                        ", found ", value->Describe()));
    }
    *id = static_cast<int32_t>(found);
  }
  ESP_ASSIGN_OR_RETURN(marks.add_bos,
                       keys.Flag("tokenizer.ggml.add_bos_token", add_bos));
  ESP_ASSIGN_OR_RETURN(marks.add_eos,
                       keys.Flag("tokenizer.ggml.add_eos_token", false));
  marks.add_bos &= marks.bos >= 0;
  marks.add_eos &= marks.eos >= 0;
  return marks;
}

// The marks in the form of the files next to a tokenizer.json.
TokenizerConfig ConfigOf(const TextMarks& marks, const TokenList& tokens) {
  const auto name = [&](int32_t id) {
    return id < 0 ? "" : tokens.text(static_cast<size_t>(id));
  };
  return {.bos = name(marks.bos),
          .eos = name(marks.eos),
          .pad = name(marks.pad),
          .add_bos = marks.add_bos,
          .add_eos = marks.add_eos};
}

void AddTokens(const TokenList& tokens, ByteBpeSpec& spec) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const int64_t kind = tokens.kind(i);
    const bool special = kind == kControl || kind == kUnknown;
    if (kind == kNormal || kind == kUserDefined) {
      spec.vocab.push_back({tokens.text(i), id});
    }
    if ((special || kind == kUserDefined) && !tokens.text(i).empty()) {
      spec.added.push_back(
          {.id = id, .content = tokens.text(i), .special = special});
    }
  }
}

absl::StatusOr<const CutStyle*> ReadStyle(const Keys& keys) {
  const std::string key = "tokenizer.ggml.pre";
  ESP_ASSIGN_OR_RETURN(const std::string_view pre, keys.Text(key, "default"));
  std::vector<std::string_view> known;
  for (const CutStyle& style : kStyles) {
    if (style.name == pre) return &style;
    known.push_back(style.name);
  }
  return keys.Bad(key, UnknownName("pre-tokenizer", pre, known));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ByteLevel(const Keys& keys) {
  ESP_ASSIGN_OR_RETURN(const CutStyle* style, ReadStyle(keys));
  ESP_ASSIGN_OR_RETURN(const TokenList tokens, ReadTokens(keys));
  ByteBpeSpec spec;
  spec.ignore_merges = style->ignore_merges;
  spec.nfc = style->nfc;
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer, PreTokenizerOf(*style));
  AddTokens(tokens, spec);
  const std::string key = "tokenizer.ggml.merges";
  ESP_ASSIGN_OR_RETURN(const GgufValue* merges, keys.Texts(key));
  spec.merges.reserve(merges->size());
  for (size_t i = 0; i < merges->size(); ++i) {
    const absl::Status added = AddMerge(*merges->Text(i), spec);
    if (!added.ok()) return keys.Bad(key, std::string(added.message()));
  }
  ESP_ASSIGN_OR_RETURN(spec.marks,
                       ReadMarks(keys, tokens, style->ignore_merges));
  return ByteBpe::Create(std::move(spec));
}

// Restores the vocabulary's SentencePiece model: types have the same numbers
// there.
absl::Status AddPieces(const Keys& keys, const TokenList& tokens,
                       spm::Model& model) {
  const std::string key = "tokenizer.ggml.scores";
  ESP_ASSIGN_OR_RETURN(const GgufValue* scores,
                       keys.Numbers(key, tokens.size()));
  // Trailing placeholders of the vocabulary have no text.
  size_t used = tokens.size();
  while (used > 0 && tokens.kind(used - 1) == kUnused) --used;
  for (size_t i = 0; i < used; ++i) {
    spm::Piece& piece = *model.add_pieces();
    int64_t kind = tokens.kind(i);
    if (kind < kNormal || kind > kByte) kind = kNormal;
    // A BPE model has no unused type: use one that never matches by accident.
    if (kind == kUnused) kind = kControl;
    piece.set_piece(tokens.text(i));
    piece.set_score(static_cast<float>(*scores->Number(i)));
    piece.set_type(static_cast<spm::Piece::Type>(kind));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePiece(const Keys& keys) {
  ESP_ASSIGN_OR_RETURN(const TokenList tokens, ReadTokens(keys));
  spm::Model model;
  ESP_RETURN_IF_ERROR(AddPieces(keys, tokens, model));
  spm::TrainerSpec& trainer = *model.mutable_trainer_spec();
  trainer.set_model_type(spm::TrainerSpec::BPE);
  trainer.set_byte_fallback(true);
  ESP_ASSIGN_OR_RETURN(const TextMarks marks, ReadMarks(keys, tokens, true));
  trainer.set_bos_id(marks.bos);
  trainer.set_eos_id(marks.eos);
  trainer.set_pad_id(marks.pad);
  spm::NormalizerSpec& normalizer = *model.mutable_normalizer_spec();
  ESP_ASSIGN_OR_RETURN(const bool prefix,
                       keys.Flag("tokenizer.ggml.add_space_prefix", true));
  ESP_ASSIGN_OR_RETURN(
      const bool collapse,
      keys.Flag("tokenizer.ggml.remove_extra_whitespaces", false));
  normalizer.set_add_dummy_prefix(prefix);
  normalizer.set_remove_extra_whitespaces(collapse);
  return SentencePieceFromBytes(
      model.SerializeAsString(),
      {.add_bos = marks.add_bos, .add_eos = marks.add_eos});
}

absl::StatusOr<std::unique_ptr<Tokenizer>> FromKeys(const Keys& keys) {
  const std::string json_key = "tokenizer.huggingface.json";
  ESP_ASSIGN_OR_RETURN(const std::string_view text, keys.Text(json_key, ""));
  if (!text.empty()) {
    TokenizerConfig config;
    if (keys.Find("tokenizer.ggml.tokens") != nullptr) {
      ESP_ASSIGN_OR_RETURN(const TokenList tokens, ReadTokens(keys));
      ESP_ASSIGN_OR_RETURN(const TextMarks marks,
                           ReadMarks(keys, tokens, false));
      config = ConfigOf(marks, tokens);
      if (keys.Find("tokenizer.ggml.add_bos_token") == nullptr) {
        config.add_bos.reset();  // set in the json
      }
      if (keys.Find("tokenizer.ggml.add_eos_token") == nullptr) {
        config.add_eos.reset();
      }
    }
    return TokenizerFromJson(text, config);
  }
  const std::string key = "tokenizer.ggml.model";
  ESP_ASSIGN_OR_RETURN(const std::string_view model, keys.Text(key, ""));
  if (model == "gpt2") return ByteLevel(keys);
  if (model == "llama") return SentencePiece(keys);
  return keys.Bad(
      key, absl::StrCat("found ", model.empty() ? "nothing" : AbslView(model),
                        ", supported: gpt2, llama"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadGgufTokenizer(
    const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  auto tokenizer = FromKeys(Keys(file));
  if (!tokenizer.ok() &&
      tokenizer.status().message().find(path) == absl::string_view::npos) {
    return InFile(path, tokenizer.status());
  }
  return tokenizer;
}

}  // namespace espalier
