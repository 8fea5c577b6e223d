// The text that a chat model reads for a conversation: roles, control tokens,
// and where the model continues.
//
//   ESP_ASSIGN_OR_RETURN(const ChatTemplate chat,
//   ChatTemplate::Named("chatml")); chat.Render({{ChatRole::kUser, "What is
//   2+3?"}});
//   // <|im_start|>user\nWhat is 2+3?<|im_end|>\n<|im_start|>assistant\n
//
// Templates are the published ones of a few families, known by name:
//
//   plain            texts one after the other, for base models
//   chatml           <|im_start|>ROLE\n...<|im_end|>\n (Qwen 1.5 to 2.5)
//   qwen3            chatml with a switch to turn thinking off
//   qwq              chatml whose answers begin inside a <think> block
//   qwen3.5          both of these
//   llama3           <|start_header_id|>ROLE<|end_header_id|>\n\n...<|eot_id|>
//   llama3.1         llama3 with its date lines (3.1 to 3.3)
//   deepseek         <｜User｜>...<｜Assistant｜>...<｜end▁of▁sentence｜> (R1
//   and its
//                    distilled models as first published)
//   deepseek-r1      deepseek whose answers begin inside a <think> block
//   mistral-v0.1 ... [INST] ... [/INST], in each of the published spacings
//
// Jinja templates are not run; find_template.h recognises which of these one
// is.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_
#define ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace espalier {

enum class ChatRole { kSystem, kUser, kAssistant };

struct ChatMessage {
  ChatRole role = ChatRole::kUser;
  std::string text;
};

// How a template handles <think> blocks at the start of the model's turn.
enum class ThinkStyle {
  kNone,    // no <think> blocks
  kSwitch,  // an empty block if thinking is off
  kOpen,    // always inside one
  kBoth,    // inside one, or an empty one if thinking is off
};

class ChatTemplate {
 public:
  // NotFound, with the nearest known name.
  static absl::StatusOr<ChatTemplate> Named(std::string_view name);
  static std::vector<std::string> Names();
  // The ChatML template of this style.
  static ChatTemplate ChatMl(ThinkStyle style);

  const std::string& name() const { return name_; }
  // The prompt spells control tokens that the tokenizer must recognise.
  bool has_control_tokens() const { return family_ != Family::kPlain; }
  // The default system message; "": none.
  const std::string& default_system() const { return default_system_; }
  void set_default_system(std::string text) {
    default_system_ = std::move(text);
  }

  // The prompt up to where the model's answer begins. `thinking` affects only
  // models with a switch. InvalidArgument if roles do not alternate (a system
  // message, then user and assistant in turn, a user message last), and for a
  // text that contains a control token, which would end its message.
  absl::StatusOr<std::string> Render(absl::Span<const ChatMessage> messages,
                                     bool thinking = true) const;
  // What ends the model's answer when a conversation is rendered as it stands,
  // with nothing to follow: "<|im_end|>\n".
  std::string AnswerEnd() const;

 private:
  enum class Family { kPlain, kChatMl, kLlama3, kDeepSeek, kMistral };
  // One of the published spacings of [INST] ... [/INST].
  struct MistralStyle;
  static absl::Span<const MistralStyle> MistralStyles();

  absl::Status CheckMessages(absl::Span<const ChatMessage> messages) const;
  std::string RenderPlain(absl::Span<const ChatMessage> messages) const;
  std::string RenderChatMl(absl::Span<const ChatMessage> messages,
                           bool thinking) const;
  std::string RenderLlama3(absl::Span<const ChatMessage> messages) const;
  std::string RenderDeepSeek(absl::Span<const ChatMessage> messages) const;
  std::string RenderMistral(absl::Span<const ChatMessage> messages) const;

  std::string name_ = "plain";
  Family family_ = Family::kPlain;
  ThinkStyle think_ = ThinkStyle::kNone;
  std::string default_system_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_
