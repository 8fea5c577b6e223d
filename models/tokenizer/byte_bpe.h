// Byte-level BPE: the tokenizer of GPT-2, Llama 3, Qwen, Phi and of the models
// that Espalier ships.
//
// Reads Hugging Face's tokenizer.json, or the older folder of vocab.json
// (encoder.json) and merges.txt (vocab.bpe). Every byte string can be encoded:
// stretches that are not UTF-8 become one token a byte.
//
//   auto gpt2 = ByteBpe::LoadVocabAndMerges(folder, kGpt2Pattern);
//   gpt2.value()->Encode("Hello world").value();          // {15496, 995}
//
// Immutable after loading; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_BYTE_BPE_H_
#define ESPALIER_MODELS_TOKENIZER_BYTE_BPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/tokenizer/bpe_merger.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// A token found in the text as it stands, before any piece is cut.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;      // found only if the caller asks for it
  bool single_word = false;  // not next to a letter, digit or underscore
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;       // ... on its right
  bool normalized = false;   // looked for in the normalised text
};

// What a file says, before it is checked and indexed.
struct ByteBpeSpec {
  std::vector<std::pair<std::string, int32_t>> vocab;       // as spelled
  std::vector<std::pair<std::string, std::string>> merges;  // as spelled
  std::vector<AddedToken> added;
  PreTokenizer pre_tokenizer;
  bool nfc = false;            // normalise to NFC first
  bool ignore_merges = false;  // a piece in the vocabulary is one token
};

class ByteBpe : public Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<ByteBpe>> Create(ByteBpeSpec spec);
  // The text of a tokenizer.json.
  static absl::StatusOr<std::unique_ptr<ByteBpe>> FromJson(
      std::string_view text);
  // FOLDER/{vocab,encoder}.json with FOLDER/{merges.txt,vocab.bpe}, which do
  // not say how text is cut: `pattern` does.
  static absl::StatusOr<std::unique_ptr<ByteBpe>> LoadVocabAndMerges(
      const std::string& folder, std::string_view pattern,
      bool ignore_merges = false);

  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const override;
  std::string_view TokenBytes(int32_t id) const override;
  int vocab_size() const override { return static_cast<int>(bytes_.size()); }

 private:
  ByteBpe() = default;

  absl::Status IndexVocab(const ByteBpeSpec& spec);
  absl::Status IndexMerges(const ByteBpeSpec& spec);
  absl::Status IndexAdded(ByteBpeSpec& spec);

  // Cuts `text` at added tokens with the given flag and encodes the rest.
  absl::Status EncodeAdded(std::string_view text, bool parse_special,
                           bool normalized, std::vector<int32_t>& ids) const;
  absl::Status EncodeNormalized(std::string_view text, bool parse_special,
                                std::vector<int32_t>& ids) const;
  absl::Status EncodePlain(std::string_view text,
                           std::vector<int32_t>& ids) const;
  absl::Status EncodePiece(std::string_view piece, bool merge,
                           std::vector<int32_t>& ids) const;
  // The added token that begins at text[at], longest first, or null.
  const AddedToken* MatchAdded(std::string_view text, size_t at,
                               bool parse_special, bool normalized) const;

  std::vector<std::string> bytes_;  // by id; "" for special and unknown ids
  absl::flat_hash_map<std::string, int32_t> id_of_;  // by bytes
  std::array<int32_t, 256> byte_id_;                 // -1: no such token
  BpeMerger merger_;
  PreTokenizer pre_tokenizer_;
  std::vector<AddedToken> added_;
  // Indices into added_ by first byte, longest content first.
  std::array<std::vector<int>, 256> added_by_byte_;
  bool nfc_ = false;
  bool ignore_merges_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_BYTE_BPE_H_
