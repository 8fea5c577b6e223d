// Tokens that are matched literally, before a text is cut into pieces: special
// tokens such as "<|im_end|>", and words added to a vocabulary later.
//
//   AddedTokens added;
//   ESP_RETURN_IF_ERROR(added.Add({.id = 7, .content = "<end>"}));
//   added.Cut("a<end>b", true, false, sections);   // "a", token 7, "b"
//
// Leftmost match first; at one position the longest token wins.
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
  bool special = false;      // matched only if the caller requests it
  bool single_word = false;  // not next to a letter, digit or underscore
  bool lstrip = false;       // absorbs the white space on its left
  bool rstrip = false;       // ... on its right
  bool normalized = false;   // matched in the normalised text
};

// A span of text without added tokens (`token` is null), or a token.
struct TextSection {
  std::string_view text;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  // `form` is the text to match, "" for the content itself.
  absl::Status Add(const AddedToken& token, std::string form = "");

  // Cuts `text` at the tokens whose `normalized` flag is as given; special ones
  // count only if `parse_special`. Text sections are not empty.
  void Cut(std::string_view text, bool parse_special, bool normalized,
           std::vector<TextSection>& sections) const;

  // The id of the token with this content; -1 if there is none.
  int32_t Find(std::string_view content) const;
  // The content of the token with this id; "" if there is none.
  std::string_view Text(int32_t id) const;

 private:
  struct Entry {
    AddedToken token;
    std::string form;
  };
  // The forms of all entries with the same `normalized` flag, byte by byte.
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
