#include "models/tokenizer/byte_bpe.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/utf8.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

// Far above every published vocabulary; keeps a wrong id from asking for
// gigabytes.
constexpr int32_t kMaxVocab = 1 << 23;
// Ranges in a text are 32-bit.
constexpr size_t kMaxText = 1u << 30;

bool IsWordCharacter(uint32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The character that ends right before `at`.
Utf8Char CharacterBefore(std::string_view text, size_t at) {
  for (size_t size = 1; size <= std::min<size_t>(4, at); ++size) {
    const Utf8Char c = NextUtf8(text.substr(at - size, size));
    if (c.valid && c.size == size) return c;
  }
  return {};
}

bool StandsAlone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    const Utf8Char c = CharacterBefore(text, begin);
    if (c.valid && IsWordCharacter(c.code)) return false;
  }
  if (end < text.size()) {
    const Utf8Char c = NextUtf8(text.substr(end));
    if (c.valid && IsWordCharacter(c.code)) return false;
  }
  return true;
}

absl::StatusOr<std::string> ToNfc(std::string_view text) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &result,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) {
    return absl::InternalError(
        absl::StrCat("normalising text to NFC: ", utf8proc_errmsg(size)));
  }
  std::string normalised(reinterpret_cast<const char*>(result),
                         static_cast<size_t>(size));
  std::free(result);
  return normalised;
}

// What a token of the vocabulary stands for. As in Hugging Face's decoder, a
// token with a character outside the byte alphabet stands for its own text.
std::string BytesOf(const std::string& spelled) {
  std::optional<std::string> bytes = UnspellBytes(spelled);
  return bytes.has_value() ? *std::move(bytes) : spelled;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteBpe>> ByteBpe::Create(ByteBpeSpec spec) {
  std::unique_ptr<ByteBpe> result(new ByteBpe);
  result->nfc_ = spec.nfc;
  result->ignore_merges_ = spec.ignore_merges;
  ESP_RETURN_IF_ERROR(result->IndexVocab(spec));
  ESP_RETURN_IF_ERROR(result->IndexMerges(spec));
  ESP_RETURN_IF_ERROR(result->IndexAdded(spec));
  result->pre_tokenizer_ = std::move(spec.pre_tokenizer);
  return result;
}

absl::Status ByteBpe::IndexVocab(const ByteBpeSpec& spec) {
  int32_t largest = -1;
  const auto check = [&](const std::string& content, int32_t id) {
    if (id < 0 || id >= kMaxVocab) {
      return absl::InvalidArgumentError(
          absl::StrCat("token \"", content, "\" has id ", id,
                       "; expected 0 to ", kMaxVocab - 1));
    }
    largest = std::max(largest, id);
    return absl::OkStatus();
  };
  for (const auto& [spelled, id] : spec.vocab) {
    ESP_RETURN_IF_ERROR(check(spelled, id));
  }
  for (const AddedToken& token : spec.added) {
    ESP_RETURN_IF_ERROR(check(token.content, token.id));
  }
  if (largest < 0) return absl::InvalidArgumentError("the vocabulary is empty");
  bytes_.resize(static_cast<size_t>(largest) + 1);
  std::vector<bool> taken(bytes_.size(), false);
  byte_id_.fill(-1);
  for (const auto& [spelled, id] : spec.vocab) {
    if (taken[id]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "id ", id, " is given to two tokens, one of them \"", spelled, "\""));
    }
    taken[id] = true;
    bytes_[id] = BytesOf(spelled);
    // The spelled form wins over one that stands for its own text.
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

absl::Status ByteBpe::IndexAdded(ByteBpeSpec& spec) {
  added_ = std::move(spec.added);
  for (size_t i = 0; i < added_.size(); ++i) {
    const AddedToken& token = added_[i];
    if (token.content.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("added token ", token.id, " has no content"));
    }
    bytes_[token.id] = token.special ? "" : token.content;
    added_by_byte_[static_cast<uint8_t>(token.content[0])].push_back(
        static_cast<int>(i));
  }
  for (std::vector<int>& list : added_by_byte_) {
    std::stable_sort(list.begin(), list.end(), [&](int a, int b) {
      return added_[a].content.size() > added_[b].content.size();
    });
  }
  return absl::OkStatus();
}

std::string_view ByteBpe::TokenBytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return bytes_[id];
}

absl::StatusOr<std::vector<int32_t>> ByteBpe::Encode(std::string_view text,
                                                     bool parse_special) const {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot encode a text of ", text.size(),
                     " bytes at once; expected at most ", kMaxText));
  }
  std::vector<int32_t> ids;
  ESP_RETURN_IF_ERROR(EncodeAdded(text, parse_special, false, ids));
  return ids;
}

const AddedToken* ByteBpe::MatchAdded(std::string_view text, size_t at,
                                      bool parse_special,
                                      bool normalized) const {
  for (const int i : added_by_byte_[static_cast<uint8_t>(text[at])]) {
    const AddedToken& token = added_[i];
    if (token.normalized == normalized && (parse_special || !token.special) &&
        text.substr(at, token.content.size()) == token.content) {
      const bool fits = !token.single_word ||
                        StandsAlone(text, at, at + token.content.size());
      return fits ? &token : nullptr;
    }
  }
  return nullptr;
}

absl::Status ByteBpe::EncodeAdded(std::string_view text, bool parse_special,
                                  bool normalized,
                                  std::vector<int32_t>& ids) const {
  const auto rest = [&](std::string_view part) {
    if (part.empty()) return absl::OkStatus();
    return normalized ? EncodePlain(part, ids)
                      : EncodeNormalized(part, parse_special, ids);
  };
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = MatchAdded(text, at, parse_special, normalized);
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + token->content.size();
    while (token->lstrip && begin > done && IsSpace(text[begin - 1])) --begin;
    while (token->rstrip && end < text.size() && IsSpace(text[end])) ++end;
    ESP_RETURN_IF_ERROR(rest(text.substr(done, begin - done)));
    ids.push_back(token->id);
    at = done = end;
  }
  return rest(text.substr(done));
}

absl::Status ByteBpe::EncodeNormalized(std::string_view text,
                                       bool parse_special,
                                       std::vector<int32_t>& ids) const {
  if (!nfc_) return EncodeAdded(text, parse_special, true, ids);
  std::string normal;
  while (!text.empty()) {
    const size_t valid = Utf8Stretch(text, true);
    ESP_ASSIGN_OR_RETURN(const std::string part, ToNfc(text.substr(0, valid)));
    normal += part;
    text.remove_prefix(valid);
    const size_t invalid = Utf8Stretch(text, false);
    normal += text.substr(0, invalid);
    text.remove_prefix(invalid);
  }
  return EncodeAdded(normal, parse_special, true, ids);
}

absl::Status ByteBpe::EncodePlain(std::string_view text,
                                  std::vector<int32_t>& ids) const {
  Pieces pieces;
  bool first = true;
  while (!text.empty()) {
    const size_t valid = Utf8Stretch(text, true);
    ESP_RETURN_IF_ERROR(
        pre_tokenizer_.Split(text.substr(0, valid), first, pieces));
    for (const TextRange range : pieces.ranges) {
      const std::string_view piece(pieces.text.data() + range.begin,
                                   range.end - range.begin);
      ESP_RETURN_IF_ERROR(EncodePiece(piece, true, ids));
    }
    text.remove_prefix(valid);
    const size_t invalid = Utf8Stretch(text, false);
    ESP_RETURN_IF_ERROR(EncodePiece(text.substr(0, invalid), false, ids));
    text.remove_prefix(invalid);
    first = false;
  }
  return absl::OkStatus();
}

absl::Status ByteBpe::EncodePiece(std::string_view piece, bool merge,
                                  std::vector<int32_t>& ids) const {
  if (merge && ignore_merges_) {
    const auto it = id_of_.find(AbslView(piece));
    if (it != id_of_.end()) {
      ids.push_back(it->second);
      return absl::OkStatus();
    }
  }
  std::vector<int32_t> symbols;
  symbols.reserve(piece.size());
  for (const char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte_id_[byte] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the vocabulary has no token for byte 0x",
          absl::Hex(byte, absl::kZeroPad2), ", so \"",
          AbslView(piece.substr(0, 40)), "\" cannot be encoded without loss"));
    }
    symbols.push_back(byte_id_[byte]);
  }
  if (merge) {
    merger_.Merge(symbols, ids);
  } else {
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }
  return absl::OkStatus();
}

}  // namespace espalier
