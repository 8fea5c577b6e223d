// Tokens that are found in a text as they stand, before it is cut into pieces:
// special tokens as "<|im_end|>", and words that a vocabulary was given later.
//
//   AddedTokens added;
//   ESP_RETURN_IF_ERROR(added.Add({.id = 7, .content = "<end>"}));
//   added.Cut("a<end>b", true, false, sections);   // "a", token 7, "b"
//
// At one place the longest token wins; places are tried from left to right.
//
// Immutable once filled; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_ADDED_TOKENS_H_
#define ESPALIER_MODELS_TOKENIZER_ADDED_TOKENS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace espalier {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;      // found only if the caller asks for it
  bool single_word = false;  // not next to a letter, digit or underscore
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;       // ... on its right
  bool normalized = false;   // looked for in the normalised text
};

// A stretch of text without added tokens (`token` is null), or a token.
struct TextSection {
  std::string_view text;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  // `form` is the text that is looked for, "" for the content itself.
  absl::Status Add(const AddedToken& token, std::string form = "");

  // Cuts `text` at the tokens with the given flag `normalized`; special ones
  // count only if `parse_special`. No section of text is empty.
  void Cut(std::string_view text, bool parse_special, bool normalized,
           std::vector<TextSection>& sections) const;

  // The id of the token with this content; -1 if there is none.
  int32_t Find(std::string_view content) const;

 private:
  struct Entry {
    AddedToken token;
    std::string form;
  };
  // The forms of all entries with one flag `normalized`, byte by byte.
  struct Trie {
    std::array<bool, 256> begins = {};  // some form begins with this byte
    absl::flat_hash_map<uint64_t, uint32_t> child;  // (node << 8 | byte)
    std::vector<const Entry*> ends = {nullptr};     // by node; null: none
  };
  static const Entry* Match(const Trie& trie, std::string_view text, size_t at,
                            bool parse_special);

  std::deque<Entry> entries_;
  std::array<Trie, 2> tries_;  // by flag `normalized`
  absl::flat_hash_map<std::string, int32_t> id_of_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_ADDED_TOKENS_H_
