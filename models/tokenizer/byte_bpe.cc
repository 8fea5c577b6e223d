#include "models/tokenizer/byte_bpe.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/normal_form.h"
#include "models/tokenizer/vocabulary.h"

namespace espalier {
namespace {

// The bytes of a vocabulary token. As in Hugging Face's decoder, a token with a
// character outside the byte alphabet is its own text.
std::string BytesOf(const std::string& spelled) {
  std::optional<std::string> bytes = UnspellBytes(spelled);
  return bytes.has_value() ? *std::move(bytes) : spelled;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::Create(ByteBpeSpec spec) {
  std::unique_ptr<ByteBpe> result(new ByteBpe);
  result->nfc_ = spec.nfc;
  result->ignore_merges_ = spec.ignore_merges;
  result->marks_ = spec.marks;
  ESP_RETURN_IF_ERROR(result->IndexVocab(spec));
  ESP_RETURN_IF_ERROR(result->IndexMerges(spec));
  ESP_RETURN_IF_ERROR(result->IndexAdded(spec));
  result->pre_tokenizer_ = std::move(spec.pre_tokenizer);
  return result;
}

absl::Status ByteBpe::IndexVocab(const ByteBpeSpec& spec) {
  ESP_ASSIGN_OR_RETURN(const int32_t size,
                       VocabularySize(spec.vocab, spec.added));
  bytes_.resize(static_cast<size_t>(size));
  byte_id_.fill(-1);
  for (const auto& [spelled, id] : spec.vocab) {
    bytes_[id] = BytesOf(spelled);
    // A spelled token takes precedence over one that is its own text.
    const bool exact = UnspellBytes(spelled).has_value();
    const auto [it, fresh] = id_of_.try_emplace(bytes_[id], id);
    if (!fresh && exact) it->second = id;
  }
  for (int b = 0; b < 256; ++b) {
    const auto it = id_of_.find(std::string(1, static_cast<char>(b)));
    if (it != id_of_.end()) byte_id_[b] = it->second;
  }
  return absl::OkStatus();
}

absl::Status ByteBpe::IndexMerges(const ByteBpeSpec& spec) {
  absl::flat_hash_map<std::string_view, int32_t> spelled_id;
  spelled_id.reserve(spec.vocab.size());
  for (const auto& [spelled, id] : spec.vocab) spelled_id[spelled] = id;
  for (const auto& [left, right] : spec.merges) {
    const auto l = spelled_id.find(left);
    const auto r = spelled_id.find(right);
    const std::string both = left + right;
    const auto merged = spelled_id.find(both);
    const auto missing = [&](const std::string& token) {
      return absl::InvalidArgumentError(absl::StrCat(
          "merge \"", left, " ", right, "\" (number ", merger_.size(), "): \"",
          token, "\" is not in the vocabulary"));
    };
    if (l == spelled_id.end()) return missing(left);
    if (r == spelled_id.end()) return missing(right);
    if (merged == spelled_id.end()) return missing(both);
    merger_.Add(l->second, r->second, merged->second);
  }
  return absl::OkStatus();
}

absl::Status ByteBpe::IndexAdded(const ByteBpeSpec& spec) {
  for (const AddedToken& token : spec.added) {
    std::string form;
    if (token.normalized && nfc_) {
      ESP_ASSIGN_OR_RETURN(form, Normalized(token.content, NormalForm::kNfc));
    }
    ESP_RETURN_IF_ERROR(added_.Add(token, std::move(form)));
    bytes_[token.id] = token.special ? "" : token.content;
  }
  return absl::OkStatus();
}

std::string_view ByteBpe::TokenBytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return bytes_[id];
}

int32_t ByteBpe::TokenId(std::string_view name) const {
  const int32_t added = added_.Find(name);
  if (added >= 0) return added;
  const auto it = id_of_.find(AbslView(name));
  return it == id_of_.end() ? -1 : it->second;
}

absl::StatusOr<std::vector<int32_t>> ByteBpe::Encode(std::string_view text,
                                                     bool parse_special) const {
  auto ids = EncodeAll(text, parse_special, true);
  return ids.ok() ? std::move(ids) : Located(ids.status());
}

absl::StatusOr<std::vector<int32_t>> ByteBpe::EncodeContinuation(
    std::string_view text) const {
  auto ids = EncodeAll(text, false, false);
  return ids.ok() ? std::move(ids) : Located(ids.status());
}

absl::StatusOr<std::vector<int32_t>> ByteBpe::EncodeAll(std::string_view text,
                                                        bool parse_special,
                                                        bool begins) const {
  ESP_RETURN_IF_ERROR(CheckTextSize(text));
  Work work;
  work.parse_special = parse_special;
  work.ids.reserve(text.size() / 3);
  std::vector<TextSection> sections;
  added_.Cut(text, parse_special, false, sections);
  for (const TextSection& section : sections) {
    if (section.token != nullptr) {
      work.ids.push_back(section.token->id);
    } else {
      const bool at_start = section.text.data() == text.data();
      ESP_RETURN_IF_ERROR(
          EncodeNormalized(section.text, begins || !at_start, work));
    }
  }
  return std::move(work.ids);
}

absl::Status ByteBpe::EncodeNormalized(std::string_view text, bool begins,
                                       Work& work) const {
  std::string normal;
  if (nfc_) {
    ESP_ASSIGN_OR_RETURN(normal, Normalized(text, NormalForm::kNfc));
    text = normal;
  }
  std::vector<TextSection> sections;
  added_.Cut(text, work.parse_special, true, sections);
  for (const TextSection& section : sections) {
    if (section.token != nullptr) {
      work.ids.push_back(section.token->id);
    } else {
      const bool at_start = section.text.data() == text.data();
      ESP_RETURN_IF_ERROR(EncodePlain(section.text, begins || !at_start, work));
    }
  }
  return absl::OkStatus();
}

absl::Status ByteBpe::EncodePlain(std::string_view text, bool begins,
                                  Work& work) const {
  while (!text.empty()) {
    const size_t valid = Utf8Stretch(text, true);
    ESP_RETURN_IF_ERROR(
        pre_tokenizer_.Split(text.substr(0, valid), begins, work.pieces));
    for (const TextRange range : work.pieces.ranges) {
      ESP_RETURN_IF_ERROR(EncodePiece(work.pieces.View(range), true, work));
    }
    text.remove_prefix(valid);
    const size_t invalid = Utf8Stretch(text, false);
    ESP_RETURN_IF_ERROR(EncodePiece(text.substr(0, invalid), false, work));
    text.remove_prefix(invalid);
    begins = false;
  }
  return absl::OkStatus();
}

absl::Status ByteBpe::EncodePiece(std::string_view piece, bool merge,
                                  Work& work) const {
  if (merge && ignore_merges_) {
    const auto it = id_of_.find(AbslView(piece));
    if (it != id_of_.end()) {
      work.ids.push_back(it->second);
      return absl::OkStatus();
    }
  }
  work.symbols.clear();
  for (const char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte_id_[byte] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the vocabulary has no token for byte 0x",
          absl::Hex(byte, absl::kZeroPad2), ", so \"",
          AbslView(piece.substr(0, 40)), "\" cannot be encoded without loss"));
    }
    work.symbols.push_back(byte_id_[byte]);
  }
  if (merge) {
    merger_.Merge(work.symbols, work.ids);
  } else {
    work.ids.insert(work.ids.end(), work.symbols.begin(), work.symbols.end());
  }
  return absl::OkStatus();
}

}  // namespace espalier
