#include "models/prompt/encode_prompt.h"

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

// A control token at the start of the text must be parsed as one.
absl::Status CheckControl(std::string_view text) {
  if (!text.starts_with("<|") && !text.starts_with("<s>")) {
    return absl::OkStatus();
  }
  const std::string begin(text.substr(0, std::min<size_t>(text.size(), 24)));
  return absl::InvalidArgumentError(
      absl::StrCat("the prompt begins with \"", absl::CEscape(begin),
                   "\", but this model's tokenizer has no such control token; "
                   "use the model's own chat template (auto), or plain"));
}

}  // namespace

absl::StatusOr<std::vector<int32_t>> EncodePrompt(const Tokenizer& tokenizer,
                                                  std::string_view text,
                                                  bool control_tokens) {
  ESP_ASSIGN_OR_RETURN(std::vector<int32_t> ids,
                       tokenizer.Encode(text, control_tokens));
  if (control_tokens) {
    // Control tokens have no bytes.
    if (!ids.empty() && tokenizer.TokenBytes(ids[0]).empty()) return ids;
    ESP_RETURN_IF_ERROR(CheckControl(text));
  }
  const TextMarks& marks = tokenizer.marks();
  if (marks.add_bos && marks.bos >= 0) ids.insert(ids.begin(), marks.bos);
  return ids;
}

}  // namespace espalier
