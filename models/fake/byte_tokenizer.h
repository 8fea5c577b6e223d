// Bytes as tokens: ids 0-255 are the bytes, 256 ends a text ("<|end|>"). For
// tests where the vocabulary does not matter.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_FAKE_BYTE_TOKENIZER_H_
#define ESPALIER_MODELS_FAKE_BYTE_TOKENIZER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

class ByteTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kEnd = 256;

  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const override;
  std::string_view TokenBytes(int32_t id) const override;
  int vocab_size() const override { return 257; }
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_FAKE_BYTE_TOKENIZER_H_
