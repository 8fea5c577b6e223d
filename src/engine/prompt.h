// A prompt: how a question is put to a model, where its steps end and how its
// answer is read; from a file (prompt.proto) or one of the shipped ones.
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
#include "search/presets.h"

namespace espalier {

// What stands for the question in Prompt::question.
inline constexpr char kQuestionMark[] = "{question}";

struct Prompt {
  std::string template_name = "auto";
  std::optional<std::string> system;  // unset: the template's own
  struct Example {
    std::string question;
    std::string answer;
  };
  std::vector<Example> examples;  // earlier turns of the conversation
  std::string question = kQuestionMark;
  bool thinking = true;
  StepFormat format{.delimiter = "\n\n", .max_step_tokens = 512};
  // boxed, last_number, or a regular expression with one group; in this order.
  std::vector<std::string> answers;
};

// `where` names the text in messages. InvalidArgument names where and line of
// what cannot be read or makes no sense.
absl::StatusOr<Prompt> ParsePrompt(const std::string& text,
                                   const std::string& where);

// The prompt of a file, NAME.textproto, or the shipped one of this name;
// NotFound names the nearest.
absl::StatusOr<Prompt> ReadPrompt(const std::string& name);

// Binds "auto" to the checkpoint's own template, and an unset system message
// to the template's: what the prompt then says depends on nothing else.
absl::Status ResolvePrompt(const std::string& checkpoint, Prompt& prompt);

// The prompt on one line, as ParsePrompt reads it. Equal prompts, equal texts.
std::string PromptText(const Prompt& prompt);

// The shipped prompts, src/engine/prompts/*.textproto, compiled in.
absl::Span<const PresetFile> PromptFiles();

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_PROMPT_H_
