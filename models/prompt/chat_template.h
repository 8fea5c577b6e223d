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
// Any other is a Jinja program of the checkpoint's own, which is run
// (jinja_template.h) and named "jinja"; find_template.h finds it, and
// recognises those above.
//
// Immutable; thread-safe.
#ifndef ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_
#define ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/prompt/jinja_template.h"

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

  // The Jinja program `source`; `bos` and `eos` are the texts of the begin and
  // the end token that it may print, "" if there are none. InvalidArgument if
  // it cannot be run, or leaves out what the user says.
  static absl::StatusOr<ChatTemplate> Jinja(std::string source, std::string bos,
                                            std::string eos);

  const std::string& name() const { return name_; }
  // Of a Jinja program; else "".
  const std::string& source() const { return source_; }
  const std::string& bos() const { return bos_; }
  const std::string& eos() const { return eos_; }
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
  // text that contains a control token, which would end its message, and for
  // what a Jinja program refuses, with its words.
  absl::StatusOr<std::string> Render(absl::Span<const ChatMessage> messages,
                                     bool thinking = true) const;
  // What ends the model's answer when a conversation is rendered as it stands,
  // with nothing to follow: "<|im_end|>\n".
  std::string AnswerEnd() const;

 private:
  enum class Family { kPlain, kChatMl, kLlama3, kDeepSeek, kMistral, kJinja };
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
  // `ask`: the model's answer follows.
  absl::StatusOr<std::string> RenderJinja(
      absl::Span<const ChatMessage> messages, bool thinking, bool ask) const;
  // The first control token in `text`; "" if there is none.
  std::string_view ControlToken(std::string_view text) const;

  std::string name_ = "plain";
  Family family_ = Family::kPlain;
  ThinkStyle think_ = ThinkStyle::kNone;
  std::string default_system_;
  std::string source_, bos_, eos_;
  std::vector<std::string> tokens_;  // control tokens that source_ spells
  std::optional<JinjaTemplate> jinja_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_CHAT_TEMPLATE_H_
