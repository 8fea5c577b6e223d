// Cuts a text into the pieces within which byte pairs may merge, following the
// "pre_tokenizer" of a Hugging Face tokenizer.json.
//
//   ESP_ASSIGN_OR_RETURN(PreTokenizer cut, PreTokenizer::FromJson(json));
//   Pieces pieces;
//   ESP_RETURN_IF_ERROR(cut.Split("I have 23.", true, pieces));
//
// Supported: ByteLevel, Split (Regex or String pattern; Isolated, Removed,
// Contiguous, MergedWithPrevious, MergedWithNext; invert), Digits, Punctuation,
// and Sequences of these. Others are rejected by name.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_PRE_TOKENIZER_H_
#define ESPALIER_MODELS_TOKENIZER_PRE_TOKENIZER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/tokenizer/regex.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// The patterns of GPT-2 (used by ByteLevel with use_regex), Llama 3 and Qwen2.
extern const char kGpt2Pattern[];
extern const char kLlama3Pattern[];
extern const char kQwen2Pattern[];

// Pieces of a text, in order: `text` and non-empty ranges in it.
struct Pieces {
  std::string text;
  std::vector<TextRange> ranges;

  std::string_view View(TextRange range) const {
    return {text.data() + range.begin, range.end - range.begin};
  }
};

class PreTokenizer {
 public:
  // `json` is the value of "pre_tokenizer", possibly null (one piece).
  static absl::StatusOr<PreTokenizer> FromJson(const nlohmann::json& json);
  // Splits by `pattern` (Isolated), then uses bytes unchanged.
  static absl::StatusOr<PreTokenizer> FromPattern(std::string_view pattern);

  // `text` must be valid UTF-8. `first`: the text begins a section, so that
  // add_prefix_space applies to it.
  absl::Status Split(std::string_view text, bool first, Pieces& pieces) const;

  // True if there is a ByteLevel stage: the vocabulary spells bytes.
  bool byte_level() const { return byte_level_; }

 private:
  enum class Behavior {
    kIsolated,
    kRemoved,
    kContiguous,
    kMergedWithPrevious,
    kMergedWithNext,
  };
  struct Stage {
    bool prefix_space = false;
    // Empty: this stage does not cut.
    std::vector<Regex> pattern;
    Behavior behavior = Behavior::kIsolated;
    bool invert = false;
    // Runs after ByteLevel, so its pattern sees bytes spelled as characters.
    bool spelled = false;
  };

  absl::Status AddStage(const nlohmann::json& json);
  absl::Status AddSplit(const nlohmann::json& json);
  absl::Status AddPattern(std::string_view pattern, Behavior behavior,
                          bool invert);
  static absl::StatusOr<Behavior> ParseBehavior(const std::string& name);
  static void PrependSpaces(Pieces& pieces);
  static absl::Status Cut(const Stage& stage, Pieces& pieces);
  static void Arrange(const Stage& stage, TextRange whole,
                      const std::vector<TextRange>& matches,
                      std::vector<TextRange>& out);

  std::vector<Stage> stages_;
  bool byte_level_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_PRE_TOKENIZER_H_
