#include "models/tokenizer/tokenizer_json.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/tokenizer/byte_bpe.h"
#include "models/tokenizer/json_fields.h"
#include "models/tokenizer/metaspace.h"
#include "models/tokenizer/text_marks.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Vocabularies over characters may have tokens with spaces, so that the
// separator between the two tokens of a merge is one of several spaces.
class SpacedTokens {
 public:
  explicit SpacedTokens(const ByteBpeSpec& spec) {
    for (const auto& token : spec.vocab) {
      any_ |= token.text.find(' ') != token.text.npos;
    }
    if (!any_) return;
    for (const auto& token : spec.vocab) known_.insert(token.text);
  }

  // Adds the merge in `line` if one of its spaces separates two tokens that
  // together are a token.
  bool Add(std::string_view line, ByteBpeSpec& spec) const {
    if (!any_ || line.size() > 2 * kLongest + 1) return false;
    for (size_t at = line.find(' '); at != line.npos;
         at = line.find(' ', at + 1)) {
      const std::string left(line.substr(0, at));
      const std::string right(line.substr(at + 1));
      if (known_.contains(left) && known_.contains(right) &&
          known_.contains(left + right)) {
        spec.merges.emplace_back(left, right);
        return true;
      }
    }
    return false;
  }

 private:
  // Of a token with spaces. Each space in a line is tried, so that a line of a
  // megabyte would take hours.
  static constexpr size_t kLongest = 1024;

  bool any_ = false;
  absl::flat_hash_set<std::string> known_;
};

absl::Status ReadMerges(const json& merges, ByteBpeSpec& spec) {
  if (merges.is_null()) return absl::OkStatus();
  if (!merges.is_array()) return WrongType("model.merges", "an array", merges);
  spec.merges.reserve(merges.size());
  const SpacedTokens spaced(spec);
  for (const json& merge : merges) {
    if (merge.is_string()) {
      const auto& line = merge.get_ref<const std::string&>();
      if (!spaced.Add(line, spec)) ESP_RETURN_IF_ERROR(AddMerge(line, spec));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      spec.merges.emplace_back(merge[0].get<std::string>(),
                               merge[1].get<std::string>());
    } else {
      return WrongType(absl::StrCat("model.merges[", spec.merges.size(), "]"),
                       "\"a b\" or [\"a\", \"b\"]", merge);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const json& root, const json& model) {
  if (!model.is_object()) {
    return absl::InvalidArgumentError(
        "expected a tokenizer with the object \"model\"");
  }
  const std::string type = TextField(model, "type");
  // Files older than the field are BPE if they have merges.
  if (type != "BPE" && !(type.empty() && model.contains("merges"))) {
    return absl::UnimplementedError(absl::StrCat(
        "model type \"", type, "\" is not supported; expected BPE",
        type == "Unigram"
            ? " (or use the tokenizer.model from which this file was made)"
            : ""));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!TextField(model, key).empty()) {
      return absl::UnimplementedError(
          absl::StrCat("model.", key, " = \"", TextField(model, key),
                       "\" is not supported; expected none"));
    }
  }
  const json& dropout = JsonField(model, "dropout");
  if (dropout.is_number() && dropout.get<double>() != 0) {
    return absl::UnimplementedError(
        "model.dropout makes encoding random; set it to null");
  }
  const json& truncation = JsonField(root, "truncation");
  if (!truncation.is_null()) {
    return absl::UnimplementedError(
        "truncation cuts texts silently; set it to null");
  }
  return absl::OkStatus();
}

absl::Status ReadAdded(const json& value, std::vector<AddedToken>& added) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_array()) return WrongType("added_tokens", "an array", value);
  for (const json& item : value) {
    if (!item.is_object() || !JsonField(item, "id").is_number_integer() ||
        TextField(item, "content").empty()) {
      return WrongType("added_tokens",
                       "objects with an integer id and a content", item);
    }
    added.push_back({.id = IdOf(item["id"]),
                     .content = TextField(item, "content"),
                     .special = BoolField(item, "special", false),
                     .single_word = BoolField(item, "single_word", false),
                     .lstrip = BoolField(item, "lstrip", false),
                     .rstrip = BoolField(item, "rstrip", false),
                     .normalized = BoolField(item, "normalized", false)});
  }
  return absl::OkStatus();
}

// Reads the only normal form that byte-level files use.
absl::Status ReadByteNormalizer(const json& value, ByteBpeSpec& spec) {
  const bool sequence = TextField(value, "type") == "Sequence";
  const json& list = JsonField(value, "normalizers");
  const json items = value.is_null()               ? json::array()
                     : sequence && list.is_array() ? list
                                                   : json::array({value});
  for (const json& item : items) {
    const std::string type = TextField(item, "type");
    if (type != "NFC") {
      return absl::UnimplementedError(
          absl::StrCat("normalizer \"", type,
                       "\" is not supported for byte-level BPE; expected null "
                       "or NFC"));
    }
    spec.nfc = true;
  }
  return absl::OkStatus();
}

absl::Status CheckByteDecoder(const json& value) {
  if (value.is_null()) return absl::OkStatus();
  const std::string type = TextField(value, "type");
  if (type == "ByteLevel") return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "decoder \"", type, "\" is not supported; expected ByteLevel"));
}

// What both types of vocabulary have: tokens, merges, added tokens, marks.
absl::StatusOr<ByteBpeSpec> ReadCommon(const json& root,
                                       const TokenizerConfig& config) {
  if (!root.is_object()) return WrongType("tokenizer", "an object", root);
  const json& model = JsonField(root, "model");
  ESP_RETURN_IF_ERROR(CheckModel(root, model));
  ByteBpeSpec spec;
  ESP_RETURN_IF_ERROR(ReadVocab(JsonField(model, "vocab"), spec));
  ESP_RETURN_IF_ERROR(ReadMerges(JsonField(model, "merges"), spec));
  spec.ignore_merges = BoolField(model, "ignore_merges", false);
  ESP_RETURN_IF_ERROR(ReadAdded(JsonField(root, "added_tokens"), spec.added));
  spec.added = JoinAdded(std::move(spec.added), config.added);
  spec.marks = MarksOf(JsonField(root, "post_processor"), config, spec.added);
  return spec;
}

absl::StatusOr<std::unique_ptr<ByteBpe>> ReadByteLevel(const json& root,
                                                       ByteBpeSpec spec) {
  ESP_RETURN_IF_ERROR(ReadByteNormalizer(JsonField(root, "normalizer"), spec));
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer, PreTokenizer::FromJson(JsonField(
                                               root, "pre_tokenizer")));
  if (!spec.pre_tokenizer.byte_level()) {
    return absl::UnimplementedError(
        "the pre_tokenizer has no ByteLevel stage, and the model no "
        "byte_fallback; expected one of the two");
  }
  ESP_RETURN_IF_ERROR(CheckByteDecoder(JsonField(root, "decoder")));
  return ByteBpe::Create(std::move(spec));
}

// Whether the pre-tokenizer splits at spaces of which the normalizer leaves
// none, as Gemma's files do.
absl::StatusOr<bool> SplitsNothing(const json& value,
                                   const MetaspaceSpec& spec) {
  if (TextField(value, "type") != "Split" ||
      JsonField(value, "pattern") != json{{"String", " "}}) {
    return false;
  }
  ESP_ASSIGN_OR_RETURN(const std::string text,
                       spec.normalizer.Apply(" ", TextPlace::kLater));
  return !absl::StrContains(text, ' ');
}

// Reads "pre_tokenizer" of a vocabulary over characters: null or Metaspace.
absl::Status ReadMetaspace(const json& value, MetaspaceSpec& spec) {
  if (value.is_null()) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const bool nothing, SplitsNothing(value, spec));
  if (nothing) return absl::OkStatus();
  if (TextField(value, "type") != "Metaspace" ||
      TextField(value, "replacement") != kSpaceMark) {
    return absl::UnimplementedError(absl::StrCat(
        "pre_tokenizer ", Excerpt(value),
        " is not supported beside byte_fallback; expected null or Metaspace "
        "with the replacement \"",
        AbslView(kSpaceMark), "\""));
  }
  const bool prefix = BoolField(value, "add_prefix_space", true);
  const std::string scheme =
      TextField(value, "prepend_scheme", prefix ? "always" : "never");
  spec.pre_tokenizer.Add({.kind = NormalizerStep::kReplace,
                          .from = " ",
                          .to = std::string(kSpaceMark)});
  if (scheme != "never") {
    spec.pre_tokenizer.Add({.kind = NormalizerStep::kPrepend,
                            .to = std::string(kSpaceMark),
                            .first_only = scheme == "first",
                            .unless_there = true});
  }
  spec.cut_at_marks = BoolField(value, "split", true);
  return absl::OkStatus();
}

// Reads one stage of "decoder": pieces always decode to spaces and bytes; what
// remains is whether a leading space is dropped.
absl::Status ReadDecoder(const json& value, MetaspaceSpec& spec) {
  if (value.is_null()) return absl::OkStatus();
  const std::string type = TextField(value, "type");
  if (type == "Metaspace") {
    spec.strip_space =
        TextField(value, "prepend_scheme",
                  BoolField(value, "add_prefix_space", true) ? "" : "never") !=
        "never";
    return absl::OkStatus();
  }
  if (type == "Strip" && TextField(value, "content") == " " &&
      JsonField(value, "start") == 1 && JsonField(value, "stop") == 0) {
    spec.strip_space = true;
    return absl::OkStatus();
  }
  const bool replaces =
      type == "Replace" &&
      TextField(JsonField(value, "pattern"), "String") == kSpaceMark &&
      TextField(value, "content") == " ";
  if (replaces || type == "ByteFallback" || type == "Fuse") {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "decoder ", Excerpt(value),
      " is not supported; supported are Metaspace, Replace of the mark by a "
      "space, ByteFallback, Fuse, Strip of one space at the start"));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ReadCharacterLevel(
    const json& root, ByteBpeSpec common) {
  const json& model = JsonField(root, "model");
  MetaspaceSpec spec;
  const std::string unknown = TextField(model, "unk_token");
  spec.byte_fallback = BoolField(model, "byte_fallback", false);
  spec.fuse_unknown = BoolField(model, "fuse_unk", false);
  spec.ignore_merges = common.ignore_merges;
  for (auto& [text, id] : common.vocab) {
    PieceType type = PieceType::kNormal;
    if (!unknown.empty() && text == unknown) type = PieceType::kUnknown;
    if (spec.byte_fallback && IsByteName(text)) type = PieceType::kByte;
    spec.pieces.push_back({std::move(text), id, 0, type});
  }
  for (auto& [left, right] : common.merges) {
    const auto rank = static_cast<int32_t>(spec.merges.size());
    spec.merges.push_back({std::move(left), std::move(right), rank});
  }
  spec.added = std::move(common.added);
  spec.marks = common.marks;
  ESP_ASSIGN_OR_RETURN(spec.normalizer,
                       TextNormalizer::FromJson(JsonField(root, "normalizer")));
  ESP_RETURN_IF_ERROR(ReadMetaspace(JsonField(root, "pre_tokenizer"), spec));
  const json& decoder = JsonField(root, "decoder");
  const json& stages = JsonField(decoder, "decoders");
  const json list = stages.is_array() ? stages : json::array({decoder});
  for (const json& stage : list) {
    ESP_RETURN_IF_ERROR(ReadDecoder(stage, spec));
  }
  return Metaspace::Create(std::move(spec));
}

}  // namespace

absl::Status ReadVocab(const json& vocab, ByteBpeSpec& spec) {
  if (!vocab.is_object()) {
    return WrongType("model.vocab", "an object of token: id", vocab);
  }
  spec.vocab.reserve(vocab.size());
  for (const auto& [spelled, id] : vocab.items()) {
    if (!id.is_number_integer()) {
      return WrongType(absl::StrCat("model.vocab[\"", spelled, "\"]"),
                       "an integer", id);
    }
    spec.vocab.push_back({spelled, IdOf(id)});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerFromJson(
    std::string_view text, const TokenizerConfig& config) {
  ESP_ASSIGN_OR_RETURN(const json root, ParseTokenizerJson(text));
  ESP_ASSIGN_OR_RETURN(ByteBpeSpec spec, ReadCommon(root, config));
  const std::string cut = TextField(JsonField(root, "pre_tokenizer"), "type");
  if (BoolField(JsonField(root, "model"), "byte_fallback", false) ||
      cut == "Metaspace") {
    return ReadCharacterLevel(root, std::move(spec));
  }
  return ReadByteLevel(root, std::move(spec));
}

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::FromJson(
    std::string_view text) {
  ESP_ASSIGN_OR_RETURN(const json root, ParseTokenizerJson(text));
  ESP_ASSIGN_OR_RETURN(ByteBpeSpec spec, ReadCommon(root, {}));
  return ReadByteLevel(root, std::move(spec));
}

}  // namespace espalier
