// Tokenizer::Load: finds the tokenizer among a folder's files.
#include <filesystem>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/tokenizer/byte_bpe.h"
#include "models/tokenizer/gguf_tokenizer.h"
#include "models/tokenizer/json_fields.h"
#include "models/tokenizer/sentencepiece_file.h"
#include "models/tokenizer/text_marks.h"
#include "models/tokenizer/tokenizer_config.h"
#include "models/tokenizer/tokenizer_json.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

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

// How a family cuts text: by the tokenizer's class, else by the model's type.
CutRule CutRuleOf(const TokenizerConfig& config) {
  const std::string& name = config.tokenizer_class;
  const std::string& model = config.model_type;
  if (absl::StartsWith(name, "Qwen2") || absl::StartsWith(model, "qwen")) {
    return {.pattern = kQwen2Pattern, .nfc = true};
  }
  if (absl::StartsWith(model, "llama") || absl::StartsWith(name, "Llama")) {
    return {.pattern = kLlama3Pattern, .ignore_merges = true};
  }
  return {.pattern = kGpt2Pattern};
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadFile(
    const std::string& path, const TokenizerConfig& config) {
  ESP_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  auto result = absl::EndsWith(path, ".model")
                    ? SentencePieceFromBytes(bytes, config)
                    : TokenizerFromJson(bytes, config);
  if (!result.ok()) return InFile(path, result.status());
  return result;
}

absl::Status ReadMergesFile(const std::string& path, ByteBpeSpec& spec) {
  ESP_ASSIGN_OR_RETURN(const std::string merges, ReadFile(path));
  for (absl::string_view line : absl::StrSplit(merges, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.substr(0, 9) == "#version:") continue;
    const absl::Status added =
        AddMerge(std::string_view(line.data(), line.size()), spec);
    if (!added.ok()) return InFile(path, added);
  }
  return absl::OkStatus();
}

// GPT-2's end-of-text mark is named by no file in its folder.
void AddEndOfText(const TokenizerConfig& config, ByteBpeSpec& spec) {
  constexpr char kEndOfText[] = "<|endoftext|>";
  for (const auto& token : spec.vocab) {
    if (token.text != kEndOfText) continue;
    spec.added =
        JoinAdded(std::move(spec.added),
                  {{.id = token.id, .content = kEndOfText, .special = true}});
    if (spec.marks.eos < 0 && config.eos.empty()) spec.marks.eos = token.id;
  }
}

absl::StatusOr<std::unique_ptr<ByteBpe>> LoadPair(
    const std::string& folder, const CutRule& cut,
    const TokenizerConfig& config) {
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
  spec.ignore_merges = cut.ignore_merges;
  spec.nfc = cut.nfc;
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(vocab_path));
  const absl::StatusOr<json> vocab = ParseTokenizerJson(text);
  if (!vocab.ok()) return InFile(vocab_path, vocab.status());
  if (absl::Status s = ReadVocab(*vocab, spec); !s.ok()) {
    return InFile(vocab_path, s);
  }
  ESP_RETURN_IF_ERROR(ReadMergesFile(merges_path, spec));
  spec.added = config.added;
  spec.marks = MarksOf(json(), config, spec.added);
  AddEndOfText(config, spec);
  ESP_ASSIGN_OR_RETURN(spec.pre_tokenizer,
                       PreTokenizer::FromPattern(cut.pattern));
  absl::StatusOr<std::unique_ptr<ByteBpe>> result =
      ByteBpe::Create(std::move(spec));
  if (!result.ok()) return InFile(folder, result.status());
  return result;
}

}  // namespace

absl::Status AddMerge(std::string_view line, ByteBpeSpec& spec) {
  const std::vector<absl::string_view> pair =
      absl::StrSplit(AbslView(line), ' ');
  if (pair.size() != 2 || pair[0].empty() || pair[1].empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("merge ", spec.merges.size(),
                     ": expected two tokens with one space between, found \"",
                     AbslView(line.substr(0, 80)), "\""));
  }
  spec.merges.emplace_back(pair[0], pair[1]);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::LoadVocabAndMerges(
    const std::string& folder, const CutRule& cut) {
  return LoadPair(folder, cut, {});
}

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Load(
    const std::string& path) {
  std::error_code error;
  if (absl::EndsWith(path, ".gguf")) {
    ESP_ASSIGN_OR_RETURN(auto result, LoadGgufTokenizer(path));
    result->file_ = path;
    return result;
  }
  const bool is_folder = fs::is_directory(path, error);
  const std::string folder =
      is_folder ? path : fs::path(path).parent_path().string();
  ESP_ASSIGN_OR_RETURN(const TokenizerConfig config,
                       ReadTokenizerConfig(folder));
  const std::string file =
      is_folder ? FirstExisting(path, {"tokenizer.json", "tokenizer.model",
                                       "vocab.json", "encoder.json"})
                : path;
  if (file.empty()) {
    return absl::NotFoundError(absl::StrCat(
        path,
        ": expected tokenizer.json, tokenizer.model, or vocab.json and "
        "merges.txt; copy the tokenizer's files beside the checkpoint"));
  }
  if (const std::string note = ForeignFileNote(file, Wanted::kModel);
      !note.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", note));
  }
  std::unique_ptr<Tokenizer> result;
  if (absl::EndsWith(file, "vocab.json") ||
      absl::EndsWith(file, "encoder.json")) {
    ESP_ASSIGN_OR_RETURN(result, LoadPair(folder, CutRuleOf(config), config));
  } else {
    ESP_ASSIGN_OR_RETURN(result, LoadFile(file, config));
  }
  result->file_ = file;
  return result;
}

}  // namespace espalier
