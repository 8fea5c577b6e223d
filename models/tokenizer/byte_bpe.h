// Byte-level BPE: the tokenizer of GPT-2, Llama 3, Qwen, Phi and of the models
// that Espalier ships.
//
// Loaded from Hugging Face's tokenizer.json, or from the older pair of
// vocab.json (encoder.json) and merges.txt (vocab.bpe). Every byte string can
// be encoded: invalid UTF-8 becomes one token per byte.
//
//   auto gpt2 = ByteBpe::LoadVocabAndMerges(folder, {kGpt2Pattern});
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
#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/bpe_merger.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// A file's content, before it is checked and indexed.
struct ByteBpeSpec {
  struct Token {
    std::string text;  // as spelled
    int32_t id = 0;
  };
  std::vector<Token> vocab;
  std::vector<std::pair<std::string, std::string>> merges;  // as spelled
  std::vector<AddedToken> added;
  PreTokenizer pre_tokenizer;
  bool nfc = false;            // normalise to NFC first
  bool ignore_merges = false;  // a piece that is in the vocabulary is one token
  TextMarks marks;
};

// How to cut text, for a vocabulary and merges that do not say.
struct CutRule {
  std::string_view pattern;
  bool ignore_merges = false;
  bool nfc = false;
};

class ByteBpe : public Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<ByteBpe>> Create(ByteBpeSpec spec);
  // `text` is the content of a tokenizer.json.
  static absl::StatusOr<std::unique_ptr<ByteBpe>> FromJson(
      std::string_view text);
  // FOLDER/{vocab,encoder}.json with FOLDER/{merges.txt,vocab.bpe}. These do
  // not say how to cut text: `cut` does.
  static absl::StatusOr<std::unique_ptr<ByteBpe>> LoadVocabAndMerges(
      const std::string& folder, const CutRule& cut);

  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const override;
  absl::StatusOr<std::vector<int32_t>> EncodeContinuation(
      std::string_view text) const override;
  std::string_view TokenBytes(int32_t id) const override;
  int32_t TokenId(std::string_view name) const override;
  int vocab_size() const override { return static_cast<int>(bytes_.size()); }
  std::string_view AddedName(int32_t id) const override {
    return added_.Text(id);
  }

 private:
  // Buffers of one call to Encode, allocated once.
  struct Work {
    bool parse_special = false;
    std::vector<int32_t> ids;  // the result
    Pieces pieces;
    std::vector<int32_t> symbols;
  };

  ByteBpe() = default;

  absl::Status IndexVocab(const ByteBpeSpec& spec);
  absl::Status IndexMerges(const ByteBpeSpec& spec);
  absl::Status IndexAdded(const ByteBpeSpec& spec);

  // `begins`: the text begins a section, so a space may be put before it.
  absl::StatusOr<std::vector<int32_t>> EncodeAll(std::string_view text,
                                                 bool parse_special,
                                                 bool begins) const;
  absl::Status EncodeNormalized(std::string_view text, bool begins,
                                Work& work) const;
  absl::Status EncodePlain(std::string_view text, bool begins,
                           Work& work) const;
  absl::Status EncodePiece(std::string_view piece, bool merge,
                           Work& work) const;

  std::vector<std::string> bytes_;  // by id; "" for special and unknown ids
  absl::flat_hash_map<std::string, int32_t> id_of_;  // by bytes
  std::array<int32_t, 256> byte_id_;                 // -1: no such token
  BpeMerger merger_;
  PreTokenizer pre_tokenizer_;
  AddedTokens added_;
  bool nfc_ = false;
  bool ignore_merges_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_BYTE_BPE_H_
