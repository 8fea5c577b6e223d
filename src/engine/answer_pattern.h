// How a prompt says where a response's answer is.
//
//   ESP_ASSIGN_OR_RETURN(const AnswerPattern pattern,
//                        AnswerPattern::Create("[Aa]nswer is:? *(.+?)\\.?$"));
//   pattern.Find("2+3=5\nThe answer is 5.");  // 5
//
// A pattern is "boxed" (the last \boxed{...}) or a regular expression (PCRE2; ^
// and $ also match at line ends) with one group; the group's text in the last
// match is the answer. "last_number", used by older prompts, is what the grader
// finds (FindFinalAnswer); it does not pick an arbitrary number. Thinking
// blocks are not searched.
//
// Immutable; thread-safe.
#ifndef ESPALIER_SRC_ENGINE_ANSWER_PATTERN_H_
#define ESPALIER_SRC_ENGINE_ANSWER_PATTERN_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/tokenizer/regex.h"

namespace espalier {

class AnswerPattern {
 public:
  static absl::StatusOr<AnswerPattern> Create(const std::string& pattern);

  // The answer as the response spells it, without surrounding white space.
  // Nothing if there is none or if matching takes too long.
  std::optional<std::string> Find(std::string_view response) const;

 private:
  enum class Kind { kBoxed, kFound, kRegex };
  std::optional<std::string> FindRaw(std::string_view response) const;

  Kind kind_ = Kind::kBoxed;
  std::optional<Regex> regex_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_ANSWER_PATTERN_H_
