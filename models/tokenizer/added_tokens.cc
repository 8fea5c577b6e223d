#include "models/tokenizer/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/utf8.h"

namespace espalier {
namespace {

// Published ones have at most some hundred bytes; every position in a text may
// have to be compared with this many.
constexpr size_t kLongest = 1024;

uint64_t Edge(size_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
}

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

// Whether it has Unicode's property White_Space.
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

// The character that ends just before `at`.
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

// Start of the white space that ends at `end`, not before `limit`.
size_t SpaceBegin(std::string_view text, size_t limit, size_t end) {
  while (end > limit) {
    const Utf8Char c = CharacterBefore(text.substr(limit), end - limit);
    if (!IsSpace(c)) break;
    end -= c.size;
  }
  return end;
}

// End of the white space that begins at `begin`.
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
  if (form.size() > kLongest) {
    return absl::InvalidArgumentError(
        absl::StrCat("added token ", token.id, " has ", form.size(),
                     " bytes; expected at most ", kLongest));
  }
  const Entry& entry = entries_.emplace_back(Entry{token, std::move(form)});
  Trie& trie = tries_[token.normalized];
  trie.begins[static_cast<uint8_t>(entry.form[0])] = true;
  size_t node = 0;
  for (const char c : entry.form) {
    const auto [it, fresh] = trie.child.try_emplace(
        Edge(node, c), static_cast<uint32_t>(trie.ends.size()));
    node = it->second;
    if (fresh) trie.ends.push_back(nullptr);
  }
  if (trie.ends[node] == nullptr) trie.ends[node] = &entry;
  id_of_.try_emplace(token.content, token.id);
  return absl::OkStatus();
}

int32_t AddedTokens::Find(std::string_view content) const {
  const auto it = id_of_.find(AbslView(content));
  return it == id_of_.end() ? -1 : it->second;
}

std::string_view AddedTokens::Text(int32_t id) const {
  for (const Entry& entry : entries_) {
    if (entry.token.id == id) return entry.token.content;
  }
  return {};
}

const AddedTokens::Entry* AddedTokens::Match(const Trie& trie,
                                             std::string_view text, size_t at,
                                             bool parse_special) {
  const Entry* longest = nullptr;
  size_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const auto it = trie.child.find(Edge(node, text[i]));
    if (it == trie.child.end()) break;
    node = it->second;
    const Entry* entry = trie.ends[node];
    if (entry != nullptr && (parse_special || !entry->token.special)) {
      longest = entry;
    }
  }
  if (longest == nullptr || !longest->token.single_word) return longest;
  const bool fits = StandsAlone(text, at, at + longest->form.size());
  return fits ? longest : nullptr;
}

void AddedTokens::Cut(std::string_view text, bool parse_special,
                      bool normalized,
                      std::vector<TextSection>& sections) const {
  sections.clear();
  size_t done = 0;
  const auto plain = [&](size_t end) {
    if (end > done) sections.push_back({text.substr(done, end - done)});
  };
  const Trie& trie = tries_[normalized];
  const size_t last = trie.child.empty() ? 0 : text.size();
  for (size_t at = 0; at < last;) {
    const Entry* entry = trie.begins[static_cast<uint8_t>(text[at])]
                             ? Match(trie, text, at, parse_special)
                             : nullptr;
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
