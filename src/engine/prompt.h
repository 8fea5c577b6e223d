// A prompt: how a question is put to a model, where its steps end and how its
// answer is read. Read from a file (prompt.proto) or one of the shipped ones.
//
//   ESP_ASSIGN_OR_RETURN(Prompt prompt, ReadPrompt("my_prompt.textproto"));
//   ESP_RETURN_IF_ERROR(ResolvePrompt(checkpoint, prompt));
//   ESP_ASSIGN_OR_RETURN(PromptedTask task, PutTask("qa", prompt));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_ENGINE_PROMPT_H_
#define ESPALIER_SRC_ENGINE_PROMPT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/task.h"
#include "models/prompt/chat_template.h"
#include "search/presets.h"

namespace espalier {

// The placeholder of the question in Prompt::question.
inline constexpr char kQuestionMark[] = "{question}";

struct Prompt {
  std::string template_name = "auto";
  // Of the template "jinja" (ChatTemplate::Jinja).
  std::string jinja, bos, eos;
  std::optional<std::string> system;  // unset: the template's own
  struct Example {
    std::string question;
    std::string answer;
  };
  std::vector<Example> examples;  // earlier turns of the conversation
  std::string question = kQuestionMark;
  bool thinking = true;
  StepFormat format{.delimiter = "\n\n", .max_step_tokens = 512};
  // boxed, last_number, or a regular expression with one group; tried in order.
  std::vector<std::string> answers;
};

// `where` names the text in messages. InvalidArgument gives `where` and the
// line of anything that cannot be read or is inconsistent.
absl::StatusOr<Prompt> ParsePrompt(const std::string& text,
                                   const std::string& where);

// The prompt in the file NAME.textproto, or the shipped one of this name;
// NotFound names the closest.
absl::StatusOr<Prompt> ReadPrompt(const std::string& name);

// The prompt's template, which "auto" is none.
absl::StatusOr<ChatTemplate> TemplateOf(const Prompt& prompt);

// Replaces "auto" by the checkpoint's own template, and an unset system message
// by the template's. After that the prompt depends on nothing else.
absl::Status ResolvePrompt(const std::string& checkpoint, Prompt& prompt);

// The prompt on one line, in the format of ParsePrompt. Equal prompts give
// equal texts.
std::string PromptText(const Prompt& prompt);

// The shipped prompts, src/engine/prompts/*.textproto, compiled in.
absl::Span<const PresetFile> PromptFiles();

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_PROMPT_H_
