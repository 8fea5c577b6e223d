// Normalisation of a text before a vocabulary over characters sees it: the
// "normalizer" of a tokenizer.json, or that of a tokenizer.model, as a list of
// steps.
//
//   normalizer.Add({.kind = NormalizerStep::kPrepend, .to = "▁"});
//   normalizer.Add({.kind = NormalizerStep::kReplace, .from = " ", .to = "▁"});
//   normalizer.Apply("a b", TextPlace::kStart)          // "▁a▁b"
//
// Immutable once filled; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_TEXT_NORMALIZER_H_
#define ESPALIER_MODELS_TOKENIZER_TEXT_NORMALIZER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/tokenizer/char_map.h"
#include "models/tokenizer/normal_form.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// Position of a section in a text: at its start, after an added token, or at
// the start of a text that continues after other tokens.
enum class TextPlace { kStart, kLater, kContinued };

struct NormalizerStep {
  enum Kind {
    kForm,      // a Unicode normal form
    kCharMap,   // SentencePiece's table of characters
    kCollapse,  // collapses runs of spaces; none at the ends
    kPrepend,   // `to` before a section that is not empty
    kReplace,   // every `from` by `to`
  };
  Kind kind;
  std::string from = {};
  std::string to = {};
  bool first_only = false;    // kPrepend: only at the start of a text
  bool unless_there = false;  // kPrepend: not if the section begins with it
  NormalForm form = NormalForm::kNfc;
  std::shared_ptr<const CharMap> map = nullptr;
};

class TextNormalizer {
 public:
  // `value` is the value of "normalizer", possibly null. Supported: NFC, NFD,
  // NFKC, NFKD, Prepend, Replace with a String pattern, Sequences of these.
  static absl::StatusOr<TextNormalizer> FromJson(const nlohmann::json& value);

  void Add(NormalizerStep step) { steps_.push_back(std::move(step)); }
  // ResourceExhausted if the text becomes many times as long.
  absl::StatusOr<std::string> Apply(std::string_view text,
                                    TextPlace place) const;

 private:
  absl::Status AddFromJson(const nlohmann::json& value);

  std::vector<NormalizerStep> steps_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TEXT_NORMALIZER_H_
