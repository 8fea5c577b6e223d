// Finds the chat template that a checkpoint was trained with.
//
//   ESP_ASSIGN_OR_RETURN(const ChatTemplate chat, FindTemplate(folder,
//   "auto"));
//
// A checkpoint has its template as a Jinja program, in tokenizer_config.json
// ("chat_template", one text or a list of named ones) or chat_template.jinja,
// or in the key tokenizer.chat_template of a GGUF file. Its literals
// (<|im_start|>, <|start_header_id|>, [INST], the spaces around them, the
// default system message, <think>) identify one of the known templates
// (chat_template.h), which is taken if it reads conversations as the program
// does; any other program is run.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_FIND_TEMPLATE_H_
#define ESPALIER_MODELS_PROMPT_FIND_TEMPLATE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/prompt/chat_template.h"

namespace espalier {

// The known template that the Jinja program `text` is; Unimplemented if none.
// `where` names the file in messages.
absl::StatusOr<ChatTemplate> RecogniseTemplate(std::string_view text,
                                               const std::string& where);

// The template of this name; "auto": the checkpoint's own, NotFound if it has
// none, InvalidArgument if it cannot be run.
absl::StatusOr<ChatTemplate> FindTemplate(const std::string& folder,
                                          const std::string& name);

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_FIND_TEMPLATE_H_
