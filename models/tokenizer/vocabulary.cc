#include "models/tokenizer/vocabulary.h"

#include "base/text.h"

namespace espalier {
namespace {

constexpr size_t kMaxText = 1u << 29;

}  // namespace

absl::Status CheckTextSize(std::string_view text) {
  if (text.size() <= kMaxText) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot encode a text of ", text.size(),
                   " bytes at once; expected at most ", kMaxText));
}

absl::Status CheckTokenId(std::string_view content, int32_t id) {
  if (id >= 0 && id < kMaxVocab) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("token \"", AbslView(content), "\" has id ", id,
                   "; expected 0 to ", kMaxVocab - 1));
}

}  // namespace espalier
