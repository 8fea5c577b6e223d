// Loading of tokenizer files: the JSON of Hugging Face, and the older pair of
// a vocabulary and a list of merges.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/tokenizer/byte_bpe.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The same error with the file's name in front.
absl::Status In(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

absl::StatusOr<json> Parse(std::string_view text) {
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::exception& e) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed JSON: ", e.what()));
  }
}

bool Flag(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

std::string Text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

absl::Status WrongType(absl::string_view where, absl::string_view expected,
                       const json& found) {
  return absl::InvalidArgumentError(absl::StrCat(
      where, ": expected ", expected, ", found ", found.type_name(), " ",
      found.dump(-1, ' ', false, json::error_handler_t::replace)
          .substr(0, 80)));
}

// An id as a number that fits; -1 otherwise, which the vocabulary refuses.
int32_t Id(const json& value) {
  if (!value.is_number_unsigned()) return -1;
  const auto id = value.get<uint64_t>();
  return id < (1u << 30) ? static_cast<int32_t>(id) : -1;
}

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
    spec.vocab.emplace_back(spelled, Id(id));
  }
  return absl::OkStatus();
}

absl::Status AddMerge(absl::string_view line, ByteBpeSpec& spec) {
  const std::vector<absl::string_view> pair = absl::StrSplit(line, ' ');
  if (pair.size() != 2 || pair[0].empty() || pair[1].empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("merge ", spec.merges.size(),
                     ": expected two tokens with one space between, found \"",
                     line.substr(0, 80), "\""));
  }
  spec.merges.emplace_back(pair[0], pair[1]);
  return absl::OkStatus();
}

absl::Status ReadMerges(const json& merges, ByteBpeSpec& spec) {
  if (!merges.is_array()) return WrongType("model.merges", "an array", merges);
  spec.merges.reserve(merges.size());
  for (const json& merge : merges) {
    if (merge.is_string()) {
      ESP_RETURN_IF_ERROR(AddMerge(merge.get_ref<const std::string&>(), spec));
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

absl::Status ReadModel(const json& root, ByteBpeSpec& spec) {
  const auto it = root.find("model");
  if (it == root.end() || !it->is_object()) {
    return absl::InvalidArgumentError(
        "expected a tokenizer with the object \"model\"");
  }
  const json& model = *it;
  const std::string type = Text(model, "type");
  // Files older than the field are BPE if they have merges.
  if (type != "BPE" && !(type.empty() && model.contains("merges"))) {
    return absl::UnimplementedError(absl::StrCat(
        "model type \"", type, "\" is not supported; expected byte-level BPE"));
  }
  if (Flag(model, "byte_fallback")) {
    return absl::UnimplementedError(
        "a SentencePiece vocabulary (model.byte_fallback is true) is not "
        "supported; expected byte-level BPE");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!Text(model, key).empty()) {
      return absl::UnimplementedError(
          absl::StrCat("model.", key, " = \"", Text(model, key),
                       "\" is not supported; expected none"));
    }
  }
  if (model.contains("dropout") && model["dropout"].is_number() &&
      model["dropout"].get<double>() != 0) {
    return absl::UnimplementedError(
        "model.dropout makes encoding random; set it to null");
  }
  spec.ignore_merges = Flag(model, "ignore_merges");
  ESP_RETURN_IF_ERROR(ReadVocab(model.value("vocab", json()), spec));
  return ReadMerges(model.value("merges", json::array()), spec);
}

absl::Status ReadNormalizer(const json& value, ByteBpeSpec& spec) {
  if (value.is_null()) return absl::OkStatus();
  const std::string type = value.is_object() ? Text(value, "type") : "";
  if (type == "NFC") {
    spec.nfc = true;
    return absl::OkStatus();
  }
  if (type == "Sequence" && value.contains("normalizers") &&
      value["normalizers"].is_array()) {
    for (const json& item : value["normalizers"]) {
      if (!item.is_object() || Text(item, "type") != "NFC") {
        return absl::UnimplementedError(absl::StrCat(
            "normalizer \"", item.is_object() ? Text(item, "type") : "",
            "\" in a Sequence is not supported; known is NFC"));
      }
      spec.nfc = true;
    }
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "normalizer \"", type, "\" is not supported; expected null or NFC"));
}

absl::Status ReadAdded(const json& value, ByteBpeSpec& spec) {
  if (value.is_null()) return absl::OkStatus();
  if (!value.is_array()) return WrongType("added_tokens", "an array", value);
  for (const json& item : value) {
    if (!item.is_object() || !item.contains("id") ||
        !item["id"].is_number_integer() || Text(item, "content").empty()) {
      return WrongType("added_tokens",
                       "objects with an integer id and a content", item);
    }
    spec.added.push_back({.id = Id(item["id"]),
                          .content = Text(item, "content"),
                          .special = Flag(item, "special"),
                          .single_word = Flag(item, "single_word"),
                          .lstrip = Flag(item, "lstrip"),
                          .rstrip = Flag(item, "rstrip"),
                          .normalized = Flag(item, "normalized")});
  }
  return absl::OkStatus();
}

absl::Status CheckDecoder(const json& value) {
  if (value.is_null()) return absl::OkStatus();
  const std::string type = value.is_object() ? Text(value, "type") : "";
  if (type == "ByteLevel") return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "decoder \"", type, "\" is not supported; expected ByteLevel"));
}

absl::StatusOr<std::unique_ptr<ByteBpe>> FromParsed(const json& root) {
  if (!root.is_object()) return WrongType("tokenizer", "an object", root);
  ByteBpeSpec spec;
  ESP_RETURN_IF_ERROR(ReadNormalizer(root.value("normalizer", json()), spec));
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer, PreTokenizer::FromJson(root.value(
                                               "pre_tokenizer", json())));
  ESP_RETURN_IF_ERROR(ReadModel(root, spec));
  if (!spec.pre_tokenizer.byte_level()) {
    return absl::UnimplementedError(
        "the pre_tokenizer has no ByteLevel stage; expected byte-level BPE");
  }
  ESP_RETURN_IF_ERROR(ReadAdded(root.value("added_tokens", json()), spec));
  ESP_RETURN_IF_ERROR(CheckDecoder(root.value("decoder", json())));
  return ByteBpe::Create(std::move(spec));
}

// The first of `names` that exists in `folder`, or "".
std::string FirstExisting(const std::string& folder,
                          std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string path = (fs::path(folder) / name).string();
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::FromJson(
    std::string_view text) {
  ESP_ASSIGN_OR_RETURN(const json root, Parse(text));
  return FromParsed(root);
}

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::LoadVocabAndMerges(
    const std::string& folder, std::string_view pattern, bool ignore_merges) {
  const std::string vocab_path =
      FirstExisting(folder, {"vocab.json", "encoder.json"});
  const std::string merges_path =
      FirstExisting(folder, {"merges.txt", "vocab.bpe"});
  if (vocab_path.empty() || merges_path.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder,
        ": expected vocab.json (or encoder.json) and merges.txt (or "
        "vocab.bpe)"));
  }
  ByteBpeSpec spec;
  spec.ignore_merges = ignore_merges;
  ESP_ASSIGN_OR_RETURN(const std::string vocab_text, ReadFile(vocab_path));
  const absl::StatusOr<json> vocab = Parse(vocab_text);
  if (!vocab.ok()) return In(vocab_path, vocab.status());
  if (absl::Status s = ReadVocab(*vocab, spec); !s.ok()) {
    return In(vocab_path, s);
  }
  ESP_ASSIGN_OR_RETURN(const std::string merges, ReadFile(merges_path));
  for (absl::string_view line : absl::StrSplit(merges, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.substr(0, 9) == "#version:") continue;
    if (absl::Status s = AddMerge(line, spec); !s.ok()) {
      return In(merges_path, s);
    }
  }
  // The one token of GPT-2 that no text may spell by accident.
  for (const auto& [spelled, id] : spec.vocab) {
    if (spelled == "<|endoftext|>") {
      spec.added.push_back({.id = id, .content = spelled, .special = true});
    }
  }
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer, PreTokenizer::FromPattern(pattern));
  absl::StatusOr<std::unique_ptr<ByteBpe>> result = Create(std::move(spec));
  if (!result.ok()) return In(folder, result.status());
  return result;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Load(
    const std::string& path) {
  std::string file = path;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    file = FirstExisting(path, {"tokenizer.json"});
    if (file.empty()) {
      if (!FirstExisting(path, {"vocab.json", "encoder.json"}).empty()) {
        return ByteBpe::LoadVocabAndMerges(path, kGpt2Pattern);
      }
      if (!FirstExisting(path, {"tokenizer.model"}).empty()) {
        return absl::UnimplementedError(absl::StrCat(
            path,
            "/tokenizer.model is a SentencePiece vocabulary, which is "
            "not supported; expected tokenizer.json with byte-level BPE"));
      }
      return absl::NotFoundError(absl::StrCat(
          path,
          ": expected tokenizer.json, or vocab.json and merges.txt; "
          "copy the tokenizer's files beside the checkpoint"));
    }
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  absl::StatusOr<std::unique_ptr<ByteBpe>> result = ByteBpe::FromJson(text);
  if (!result.ok()) return In(file, result.status());
  return result;
}

}  // namespace espalier
