// Question and steps as the tokens that a reward model reads.
//
//   ESP_ASSIGN_OR_RETURN(const StepLayout layout,
//                        StepLayout::Create(format, *tokenizer, folder));
//   ESP_ASSIGN_OR_RETURN(const LaidOutPath path,
//                        layout.Lay("What is 2+3?", {"2+3 = 5\n"}));
//   // path.ids ends with the token at which the verdict on the last step is
//   // read; the verdicts on earlier steps are at the ends of shorter paths
//
// White space around a step is a matter of the policy's step format and not
// part of it, unless the format takes steps as written; a step without text
// adds nothing to its path. What a longer
// path's ids share with a shorter one's need not be computed again: all of them
// where a tag or separate encoding fixes the boundary, all but a few where a
// tokenizer merges over a step's end.
//
// Immutable; refers to the tokenizer. Thread-safe.
#ifndef ESPALIER_MODELS_REWARD_STEP_LAYOUT_H_
#define ESPALIER_MODELS_REWARD_STEP_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/prompt/chat_template.h"
#include "models/reward/reward_format.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

struct LaidOutPath {
  std::vector<int32_t> ids;
  // Lengths of prefixes of `ids` from which a longer path may go on, ascending;
  // the last is ids.size().
  std::vector<size_t> cuts;
};

class StepLayout {
 public:
  // InvalidArgument for a tag or choice that is not one token of `tokenizer`.
  // `folder` is the checkpoint, whose chat template "auto" means; errors as
  // from FindTemplate.
  static absl::StatusOr<StepLayout> Create(const RewardFormat& format,
                                           const Tokenizer& tokenizer,
                                           const std::string& folder);

  // The path of these steps, at least one. InvalidArgument, which names the
  // step, if one or the question contains the tag or a control token.
  absl::StatusOr<LaidOutPath> Lay(std::string_view question,
                                  absl::Span<const std::string> steps) const;
  // What the paths of this question begin with. Errors as from Lay.
  absl::StatusOr<std::vector<int32_t>> Stem(std::string_view question) const;
  // What a model that writes its verdict reads about the last of these steps,
  // up to where it begins to write. `said` has what was written about each step
  // before it, if the format has a history. Errors as from Lay.
  absl::StatusOr<std::vector<int32_t>> LayVerdict(
      std::string_view question, absl::Span<const std::string> steps,
      absl::Span<const std::string> said) const;
  // A round's text for the step of this index, from 0.
  static std::string Numbered(const std::string& text, size_t index);
  // What stands before the first step. Errors as from Lay.
  absl::StatusOr<std::vector<int32_t>> Before(std::string_view question) const;
  // The path as text, where tags are written as they are.
  absl::StatusOr<std::string> Text(std::string_view question,
                                   absl::Span<const std::string> steps) const;

  // The tokens whose ln p is read; empty with a head.
  const std::vector<int32_t>& choices() const { return choices_; }
  // The token at which steps are read; -1: none.
  int32_t tag_id() const { return tag_id_; }
  const RewardFormat& format() const { return format_; }

 private:
  StepLayout(const RewardFormat& format, const Tokenizer& tokenizer)
      : format_(format), tokenizer_(&tokenizer) {}

  absl::Status ResolveTag();
  absl::Status ResolveChoices();
  absl::Status ResolveEnd(const std::string& folder);
  absl::Status CheckControl() const;
  // Steps as the format counts them, without white space around.
  std::vector<std::string> Units(absl::Span<const std::string> steps) const;
  // The step's number and text, with prefix and suffix.
  std::string Prefixed(const std::string& unit, size_t index) const;
  absl::Status CheckText(const std::string& what, std::string_view text) const;
  absl::Status CheckTexts(std::string_view question,
                          const std::vector<std::string>& units) const;
  // The steps, where the judged ones stand apart.
  std::string Focused(const std::vector<std::string>& units) const;
  // Everything up to the read position.
  absl::StatusOr<std::string> Body(std::string_view question,
                                   const std::vector<std::string>& units) const;
  std::string VerdictBody(std::string_view question,
                          const std::vector<std::string>& units,
                          absl::Span<const std::string> said) const;
  absl::StatusOr<LaidOutPath> LayIds(
      std::string_view question, const std::vector<std::string>& units) const;
  absl::StatusOr<LaidOutPath> LayText(
      std::string_view question, const std::vector<std::string>& units) const;
  absl::StatusOr<LaidOutPath> LayUnits(
      std::string_view question, const std::vector<std::string>& units) const;
  absl::Status CheckTags(absl::Span<const int32_t> ids, size_t units) const;

  RewardFormat format_;
  const Tokenizer* tokenizer_;
  std::optional<ChatTemplate> chat_;
  int32_t tag_id_ = -1;
  int32_t end_ = -1;      // stands after a response to the policy's prompt
  bool control_ = false;  // the text spells control tokens
  bool stable_ = false;   // nothing merges over the read position
  std::vector<int32_t> choices_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REWARD_STEP_LAYOUT_H_
