// Runs the Jinja templates that checkpoints carry for conversations.
//
//   ESP_ASSIGN_OR_RETURN(const JinjaTemplate chat, JinjaTemplate::Parse(text));
//   chat.Render({{"messages", ...}, {"add_generation_prompt", true}});
//
// The part of the language that such templates use: if, for, set, macro, break,
// continue, expressions, and Python's methods of texts and dicts. Tuples are
// lists, which shows only where one is printed. As in
// transformers, trim_blocks and lstrip_blocks are on, tojson does not escape
// HTML, raise_exception and strftime_now are there; the latter gives a fixed
// date, July 26, 2024, so that no run depends on the day. Work and memory of a
// rendering are bounded, and nothing outside of it can be reached.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_JINJA_TEMPLATE_H_
#define ESPALIER_MODELS_PROMPT_JINJA_TEMPLATE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/prompt/jinja_value.h"

namespace espalier {

struct JinjaNode;

class JinjaTemplate {
 public:
  // InvalidArgument, with the line, for what is not Jinja or not supported.
  static absl::StatusOr<JinjaTemplate> Parse(std::string_view source);

  // InvalidArgument, with the line, for what fails in Python, too; with the
  // template's own words for what it raises. ResourceExhausted for endless
  // work.
  absl::StatusOr<std::string> Render(const JinjaFields& variables) const;

 private:
  std::shared_ptr<const std::vector<JinjaNode>> nodes_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_JINJA_TEMPLATE_H_
