// The text that a chat model reads for a conversation: who speaks, between
// which control tokens, and where the model goes on.
//
//   ESP_ASSIGN_OR_RETURN(const ChatTemplate chat,
//   ChatTemplate::Named("chatml")); chat.Render({{ChatRole::kUser, "What is
//   2+3?"}});
//   // <|im_start|>user\nWhat is 2+3?<|im_end|>\n<|im_start|>assistant\n
//
// Templates are the published ones of a few families, known by name:
//
//   plain            texts one after the other, for models that only continue
//   chatml           <|im_start|>ROLE\n...<|im_end|>\n (Qwen 1.5 to 2.5)
//   qwen3            chatml that can be told not to think
//   qwq              chatml whose answers begin inside a <think> block
//   qwen3.5          both of these
//   llama3           <|start_header_id|>ROLE<|end_header_id|>\n\n...<|eot_id|>
//   llama3.1         llama3 with its date lines (3.1 to 3.3)
//   mistral-v0.1 ... [INST] ... [/INST], in the spacings that there are
//
// A template written in Jinja is not run; find_template.h recognises which of
// these it is.
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

// What a template makes of <think> blocks where the model's turn begins.
enum class ThinkStyle {
  kNone,    // knows nothing of them
  kSwitch,  // an empty block where thinking is off
  kOpen,    // always inside one
  kBoth,    // inside one, or an empty one where thinking is off
};

class ChatTemplate {
 public:
  // NotFound names the nearest.
  static absl::StatusOr<ChatTemplate> Named(std::string_view name);
  static std::vector<std::string> Names();
  // The member of the ChatML family of this style.
  static ChatTemplate ChatMl(ThinkStyle style);

  const std::string& name() const { return name_; }
  // The prompt spells control tokens that the tokenizer must recognise.
  bool has_control_tokens() const { return family_ != Family::kPlain; }
  // The text of the system message where a conversation has none; "": none.
  const std::string& default_system() const { return default_system_; }
  void set_default_system(std::string text) {
    default_system_ = std::move(text);
  }

  // The prompt up to where the model's answer begins. `thinking` is for models
  // that can be told; others think or not as they were made to.
  // InvalidArgument where roles do not alternate (a system message, then user
  // and assistant by turns, a user message last), and for a text that spells a
  // control token: it would end its message.
  absl::StatusOr<std::string> Render(absl::Span<const ChatMessage> messages,
                                     bool thinking = true) const;

 private:
  enum class Family { kPlain, kChatMl, kLlama3, kMistral };
  // One of the spacings of [INST] ... [/INST].
  struct MistralStyle;
  static absl::Span<const MistralStyle> MistralStyles();

  absl::Status CheckMessages(absl::Span<const ChatMessage> messages) const;
  std::string RenderPlain(absl::Span<const ChatMessage> messages) const;
  std::string RenderChatMl(absl::Span<const ChatMessage> messages,
                           bool thinking) const;
  std::string RenderLlama3(absl::Span<const ChatMessage> messages) const;
  std::string RenderMistral(absl::Span<const ChatMessage> messages) const;

  std::string name_ = "plain";
  Family family_ = Family::kPlain;
  ThinkStyle think_ = ThinkStyle::kNone;
  std::string default_system_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_
