// Text to token ids and back, exactly as the checkpoint's own tokenizer.
//
//   auto tokenizer = Tokenizer::Load(folder).value();     // tokenizer.json
//   std::vector<int32_t> ids = tokenizer->Encode("3 + 4").value();
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

class Tokenizer {
 public:
  // Reads FOLDER/tokenizer.json (or the file itself if a path to a file).
  static absl::StatusOr<std::unique_ptr<Tokenizer>> Load(
      const std::string& path);
  virtual ~Tokenizer() = default;

  // Ids of `text`. Special tokens in the text are recognised only if
  // `parse_special`; no begin or end token is added.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const = 0;
  // The bytes that a token stands for, "" for special tokens and unknown ids.
  virtual std::string_view TokenBytes(int32_t id) const = 0;
  virtual int vocab_size() const = 0;

  // Bytes of all tokens in order; may be invalid UTF-8 if ids are.
  std::string Decode(absl::Span<const int32_t> ids) const {
    std::string text;
    for (const int32_t id : ids) text += TokenBytes(id);
    return text;
  }
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TOKENIZER_H_
