#include "models/tokenizer/metaspace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "models/tokenizer/char_bpe.h"
#include "models/tokenizer/unigram.h"
#include "models/tokenizer/vocabulary.h"

namespace espalier {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The byte that a piece such as "<0x0A>" names; -1 if none.
int ByteOf(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') {
    return -1;
  }
  int byte = 0;
  for (const char c : piece.substr(3, 2)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'A' || c > 'F')) return -1;
    byte = byte * 16 + (digit ? c - '0' : c - 'A' + 10);
  }
  return byte;
}

// `text` with every byte that belongs to no character replaced by U+FFFD.
std::string WithoutInvalid(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const Utf8Char c = NextUtf8(text);
    valid += c.valid ? text.substr(0, c.size) : kReplacement;
    text.remove_prefix(c.size);
  }
  return valid;
}

// The code of a text of one character; -1 for any other.
int64_t OneCharacter(std::string_view text) {
  if (text.empty()) return -1;
  const Utf8Char c = NextUtf8(text);
  return c.valid && c.size == text.size() ? int64_t{c.code} : -1;
}

}  // namespace

bool IsByteName(std::string_view text) { return ByteOf(text) >= 0; }

absl::StatusOr<std::unique_ptr<Metaspace>> Metaspace::Create(
    MetaspaceSpec spec) {
  std::unique_ptr<Metaspace> result(new Metaspace);
  ESP_RETURN_IF_ERROR(result->IndexPieces(spec));
  result->normalizer_ = spec.normalizer;
  ESP_RETURN_IF_ERROR(result->IndexAdded(spec));
  if (spec.unigram) {
    result->IndexScores(spec);
  } else {
    ESP_RETURN_IF_ERROR(result->IndexMerges(spec));
  }
  result->pre_tokenizer_ = std::move(spec.pre_tokenizer);
  result->cut_at_marks_ = spec.cut_at_marks;
  result->fuse_unknown_ = spec.fuse_unknown;
  result->leading_space_ = spec.strip_space;
  result->marks_ = spec.marks;
  return result;
}

absl::Status Metaspace::IndexPieces(const MetaspaceSpec& spec) {
  ESP_ASSIGN_OR_RETURN(const int32_t size,
                       VocabularySize(spec.pieces, spec.added));
  bytes_.resize(static_cast<size_t>(size));
  byte_id_.fill(-1);
  for (const Piece& piece : spec.pieces) {
    switch (piece.type) {
      case PieceType::kControl:
        break;
      case PieceType::kUnknown:
        unknown_ = piece.id;
        bytes_[piece.id] = spec.unknown_text;
        break;
      case PieceType::kByte: {
        const int byte = ByteOf(piece.text);
        if (byte < 0) {
          return absl::InvalidArgumentError(absl::StrCat(
              "piece ", piece.id,
              " has the type byte; expected text like <0x0A>, found \"",
              piece.text, "\""));
        }
        bytes_[piece.id] = std::string(1, static_cast<char>(byte));
        if (spec.byte_fallback) byte_id_[byte] = piece.id;
        break;
      }
      case PieceType::kNormal:
      case PieceType::kUnused:
        bytes_[piece.id] =
            absl::StrReplaceAll(piece.text, {{AbslView(kSpaceMark), " "}});
        break;
    }
    id_of_.try_emplace(piece.text, piece.id);
  }
  has_bytes_ =
      std::find(byte_id_.begin(), byte_id_.end(), -1) == byte_id_.end();
  return absl::OkStatus();
}

absl::Status Metaspace::IndexMerges(const MetaspaceSpec& spec) {
  auto bpe = std::make_unique<CharBpe>();
  absl::flat_hash_map<std::string_view, int32_t> mergeable;
  for (const Piece& piece : spec.pieces) {
    if (piece.type != PieceType::kNormal) continue;
    mergeable.try_emplace(piece.text, piece.id);
    const int64_t code = OneCharacter(piece.text);
    if (code >= 0) bpe->AddCharacter(static_cast<uint32_t>(code), piece.id);
  }
  const auto symbol = [&](std::string_view text) -> int32_t {
    const auto it = mergeable.find(text);
    if (it != mergeable.end()) return it->second;
    const int64_t code = OneCharacter(text);
    return code < 0 ? -1 : kCharacterBase + static_cast<int32_t>(code);
  };
  for (const PieceMerge& merge : spec.merges) {
    const std::string both = merge.left + merge.right;
    const auto merged = mergeable.find(both);
    const int32_t left = symbol(merge.left);
    const int32_t right = symbol(merge.right);
    if (merged == mergeable.end() || left < 0 || right < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge \"", merge.left, " ", merge.right, "\" (rank ",
                       merge.rank, "): \"",
                       merged == mergeable.end() ? both
                       : left < 0                ? merge.left
                                                 : merge.right,
                       "\" is not in the vocabulary"));
    }
    bpe->AddMerge(left, right, merged->second, both, merge.rank);
  }
  if (spec.ignore_merges) bpe->SetIgnoreMerges(id_of_);
  model_ = std::move(bpe);
  return absl::OkStatus();
}

void Metaspace::IndexScores(const MetaspaceSpec& spec) {
  auto unigram = std::make_unique<Unigram>();
  for (const Piece& piece : spec.pieces) {
    if (piece.type == PieceType::kNormal && !piece.text.empty()) {
      unigram->AddPiece(piece.text, piece.id, piece.score);
    }
  }
  model_ = std::move(unigram);
}

absl::Status Metaspace::IndexAdded(const MetaspaceSpec& spec) {
  for (const AddedToken& token : spec.added) {
    std::string form;
    if (token.normalized) {
      ESP_ASSIGN_OR_RETURN(form,
                           normalizer_.Apply(token.content, TextPlace::kLater));
    }
    ESP_RETURN_IF_ERROR(added_.Add(token, std::move(form)));
    bytes_[token.id] = token.special ? "" : token.content;
  }
  return absl::OkStatus();
}

std::string_view Metaspace::TokenBytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return bytes_[id];
}

int32_t Metaspace::TokenId(std::string_view name) const {
  const int32_t added = added_.Find(name);
  if (added >= 0) return added;
  const auto it = id_of_.find(AbslView(name));
  return it == id_of_.end() ? -1 : it->second;
}

absl::StatusOr<std::vector<int32_t>> Metaspace::Encode(
    std::string_view text, bool parse_special) const {
  auto ids = EncodeAll(text, parse_special, TextPlace::kStart);
  return ids.ok() ? std::move(ids) : Located(ids.status());
}

absl::StatusOr<std::vector<int32_t>> Metaspace::EncodeContinuation(
    std::string_view text) const {
  auto ids = EncodeAll(text, false, TextPlace::kContinued);
  return ids.ok() ? std::move(ids) : Located(ids.status());
}

absl::StatusOr<std::vector<int32_t>> Metaspace::EncodeAll(
    std::string_view text, bool parse_special, TextPlace start) const {
  ESP_RETURN_IF_ERROR(CheckTextSize(text));
  std::vector<int32_t> ids;
  std::vector<TextSection> sections;
  added_.Cut(text, parse_special, false, sections);
  for (const TextSection& section : sections) {
    if (section.token != nullptr) {
      ids.push_back(section.token->id);
      continue;
    }
    const bool first = section.text.data() == text.data();
    ESP_RETURN_IF_ERROR(EncodeSection(section.text, parse_special,
                                      first ? start : TextPlace::kLater, ids));
  }
  return ids;
}

absl::Status Metaspace::EncodeSection(std::string_view text, bool parse_special,
                                      TextPlace place,
                                      std::vector<int32_t>& ids) const {
  ESP_ASSIGN_OR_RETURN(std::string normal, normalizer_.Apply(text, place));
  if (!has_bytes_ && Utf8Stretch(normal, true) < normal.size()) {
    normal = WithoutInvalid(normal);
  }
  std::vector<TextSection> sections;
  added_.Cut(normal, parse_special, true, sections);
  for (const TextSection& section : sections) {
    if (section.token != nullptr) {
      ids.push_back(section.token->id);
      continue;
    }
    const bool first = section.text.data() == normal.data();
    ESP_ASSIGN_OR_RETURN(
        const std::string marked,
        pre_tokenizer_.Apply(section.text, first ? place : TextPlace::kLater));
    ESP_RETURN_IF_ERROR(EncodePlain(marked, ids));
  }
  return absl::OkStatus();
}

absl::Status Metaspace::EncodePlain(std::string_view text,
                                    std::vector<int32_t>& ids) const {
  std::vector<int32_t> symbols;
  while (!text.empty()) {
    size_t valid = Utf8Stretch(text, true);
    if (valid > 0) {
      // With cuts at marks a piece ends where the next mark begins.
      if (cut_at_marks_) valid = std::min(valid, text.find(kSpaceMark, 1));
      symbols.clear();
      model_->Encode(text.substr(0, valid), symbols);
      ESP_RETURN_IF_ERROR(Finish(symbols, ids));
      text.remove_prefix(valid);
      continue;
    }
    // Invalid bytes get here only if all bytes have tokens.
    AppendBytes(text.substr(0, 1), ids);
    text.remove_prefix(1);
  }
  return absl::OkStatus();
}

bool Metaspace::AppendBytes(std::string_view bytes,
                            std::vector<int32_t>& ids) const {
  for (const char c : bytes) {
    if (byte_id_[static_cast<uint8_t>(c)] < 0) return false;
  }
  for (const char c : bytes) ids.push_back(byte_id_[static_cast<uint8_t>(c)]);
  return true;
}

absl::Status Metaspace::Finish(const std::vector<int32_t>& symbols,
                               std::vector<int32_t>& ids) const {
  bool after_unknown = false;
  for (const int32_t symbol : symbols) {
    if (symbol < kCharacterBase) {
      ids.push_back(symbol);
      after_unknown = false;
      continue;
    }
    std::string bytes;
    AppendUtf8(static_cast<uint32_t>(symbol - kCharacterBase), bytes);
    if (AppendBytes(bytes, ids)) {
      after_unknown = false;
      continue;
    }
    if (unknown_ < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the vocabulary has no piece for \"", bytes,
          "\", no tokens for its bytes and no unknown token, so it cannot be "
          "encoded"));
    }
    if (!after_unknown || !fuse_unknown_) ids.push_back(unknown_);
    after_unknown = true;
  }
  return absl::OkStatus();
}

}  // namespace espalier
