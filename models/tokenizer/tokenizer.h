// Text to token ids and back, exactly like the checkpoint's own tokenizer.
//
//   auto tokenizer = Tokenizer::Load(folder).value();     // tokenizer.json
//   std::vector<int32_t> ids = tokenizer->Encode("3 + 4").value();
//
// Load supports tokenizer.json (byte-level BPE as in GPT-2, Llama 3 and Qwen;
// BPE over characters with "▁" for a space as in Llama 2 and Mistral),
// SentencePiece's tokenizer.model (BPE and unigram), vocab.json with
// merges.txt, and GGUF files. A tokenizer_config.json next to the first three
// adds tokens and marks.
//
// Immutable after loading; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_TOKENIZER_H_
#define ESPALIER_MODELS_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace espalier {

// The tokens around a text, by id; -1 if the tokenizer has none.
struct TextMarks {
  int32_t bos = -1;      // begins a text
  int32_t eos = -1;      // ends a text
  int32_t pad = -1;      // pads a batch
  bool add_bos = false;  // a plain prompt should begin with `bos`
  bool add_eos = false;  // a whole text should end with `eos`
};

class Tokenizer {
 public:
  // The tokenizer in folder `path`: the first that exists of tokenizer.json,
  // tokenizer.model, vocab.json (encoder.json) with merges.txt (vocab.bpe). Or
  // the tokenizer.json, tokenizer.model or .gguf at `path` itself.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Load(
      const std::string& path);
  virtual ~Tokenizer() = default;

  // Ids of `text`. Special tokens in the text are recognised only if
  // `parse_special`; no begin or end token is added.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const = 0;
  // Ids of `text` as a continuation of other tokens: without the space that
  // some tokenizers put before the first word of a text.
  virtual absl::StatusOr<std::vector<int32_t>> EncodeContinuation(
      std::string_view text) const {
    return Encode(text);
  }
  // The bytes of a token, "" for special tokens and unknown ids.
  virtual std::string_view TokenBytes(int32_t id) const = 0;
  virtual int vocab_size() const = 0;
  // The id of the token with this name, such as "<|im_end|>"; -1 if there is
  // none.
  virtual int32_t TokenId(std::string_view name) const;
  // The name of a token that was added to the vocabulary, special or not; ""
  // for others.
  virtual std::string_view AddedName(int32_t /*id*/) const { return {}; }

  const TextMarks& marks() const { return marks_; }

  // Bytes of all tokens in order, as a continuation of a text; may be invalid
  // UTF-8 if ids are.
  std::string Decode(absl::Span<const int32_t> ids) const {
    std::string text;
    for (const int32_t id : ids) text += TokenBytes(id);
    return text;
  }
  // The text that Encode turned into `ids`: Decode without the space that
  // Encode put before the first word.
  std::string DecodeText(absl::Span<const int32_t> ids) const;

 protected:
  // An encoding error with the file that the tokenizer was loaded from.
  absl::Status Located(const absl::Status& error) const;

  TextMarks marks_;             // set while loading
  bool leading_space_ = false;  // Encode puts a space before a text

 private:
  std::string file_;  // "" if not from a file
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TOKENIZER_H_
