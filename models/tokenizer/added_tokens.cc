#include "models/tokenizer/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "models/tokenizer/utf8.h"
#include "src/base/text.h"

namespace espalier {
namespace {

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

// Unicode's property White_Space.
bool IsSpace(const Utf8Char& c) {
  if (!c.valid) return false;
  switch (c.code) {
    case ' ':
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return (c.code >= '\t' && c.code <= '\r') ||
             (c.code >= 0x2000 && c.code <= 0x200A);
  }
}

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

// Where the white space that ends at `end` begins, not before `limit`.
size_t SpaceBegin(std::string_view text, size_t limit, size_t end) {
  while (end > limit) {
    const Utf8Char c = CharacterBefore(text.substr(limit), end - limit);
    if (!IsSpace(c)) break;
    end -= c.size;
  }
  return end;
}

// Where the white space that begins at `begin` ends.
size_t SpaceEnd(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Utf8Char c = NextUtf8(text.substr(begin));
    if (!IsSpace(c)) break;
    begin += c.size;
  }
  return begin;
}

}  // namespace

absl::Status AddedTokens::Add(const AddedToken& token, std::string form) {
  if (token.content.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("added token ", token.id, " has no content"));
  }
  if (form.empty()) form = token.content;
  const Entry& entry = entries_.emplace_back(Entry{token, std::move(form)});
  std::vector<const Entry*>& list =
      by_byte_[token.normalized][static_cast<uint8_t>(entry.form[0])];
  const auto place = std::find_if(list.begin(), list.end(), [&](const auto* e) {
    return e->form.size() < entry.form.size();
  });
  list.insert(place, &entry);
  ++count_[token.normalized];
  id_of_.try_emplace(token.content, token.id);
  return absl::OkStatus();
}

int32_t AddedTokens::Find(std::string_view content) const {
  const auto it = id_of_.find(AbslView(content));
  return it == id_of_.end() ? -1 : it->second;
}

const AddedTokens::Entry* AddedTokens::Match(std::string_view text, size_t at,
                                             bool parse_special,
                                             bool normalized) const {
  for (const Entry* entry :
       by_byte_[normalized][static_cast<uint8_t>(text[at])]) {
    if ((parse_special || !entry->token.special) &&
        text.substr(at, entry->form.size()) == entry->form) {
      const bool fits = !entry->token.single_word ||
                        StandsAlone(text, at, at + entry->form.size());
      return fits ? entry : nullptr;
    }
  }
  return nullptr;
}

void AddedTokens::Cut(std::string_view text, bool parse_special,
                      bool normalized,
                      std::vector<TextSection>& sections) const {
  sections.clear();
  size_t done = 0;
  const auto plain = [&](size_t end) {
    if (end > done) sections.push_back({text.substr(done, end - done)});
  };
  const size_t last = count_[normalized] == 0 ? 0 : text.size();
  for (size_t at = 0; at < last;) {
    const Entry* entry = Match(text, at, parse_special, normalized);
    if (entry == nullptr) {
      ++at;
      continue;
    }
    const AddedToken& token = entry->token;
    size_t begin = at;
    size_t end = at + entry->form.size();
    if (token.lstrip) begin = SpaceBegin(text, done, begin);
    if (token.rstrip) end = SpaceEnd(text, end);
    plain(begin);
    sections.push_back({text.substr(begin, end - begin), &token});
    at = done = end;
  }
  plain(text.size());
}

}  // namespace espalier
