#include "models/prompt/chat_template.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr const char* kThinkNames[] = {"chatml", "qwen3", "qwq", "qwen3.5"};
// DeepSeek's control tokens, which are written with full-width bars.
constexpr std::string_view kDeepSeekBegin = "<｜begin▁of▁sentence｜>";
constexpr std::string_view kDeepSeekUser = "<｜User｜>";
constexpr std::string_view kDeepSeekAssistant = "<｜Assistant｜>";
constexpr std::string_view kDeepSeekEnd = "<｜end▁of▁sentence｜>";
constexpr char kJinjaName[] = "jinja";
// A message that no template spells itself.
constexpr std::string_view kMark = "What is 7f3a9c?";
constexpr std::string_view kNoThought = "<think>\n\n</think>\n\n";

// Llama 3.1's template uses this date if none is given. Today's date would make
// runs depend on the day.
constexpr const char* kLlamaDates =
    "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";

const char* RoleName(ChatRole role) {
  switch (role) {
    case ChatRole::kSystem:
      return "system";
    case ChatRole::kUser:
      return "user";
    default:
      return "assistant";
  }
}

bool IsSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Earlier answers are repeated without their thinking.
std::string_view AfterThought(std::string_view text) {
  constexpr std::string_view kEnd = "</think>";
  const size_t at = text.rfind(kEnd);
  if (at == std::string_view::npos) return text;
  text.remove_prefix(at + kEnd.size());
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

// The first "<|name|>" in `text`, "" if there is none.
std::string_view BarToken(std::string_view text) {
  size_t begin = 0;
  while ((begin = text.find("<|", begin)) != std::string_view::npos) {
    size_t end = begin + 2;
    while (end < text.size() &&
           (text[end] == '_' ||
            std::isalnum(static_cast<unsigned char>(text[end])) != 0)) {
      ++end;
    }
    if (end > begin + 2 && text.substr(end, 2) == "|>") {
      return text.substr(begin, end + 2 - begin);
    }
    begin += 2;
  }
  return {};
}

// The first control token of Mistral's tokenizers in `text`.
std::string_view MistralToken(std::string_view text) {
  for (const std::string_view token :
       {"<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
        "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"}) {
    if (text.find(token) != std::string_view::npos) return token;
  }
  return {};
}

// The same of DeepSeek's.
std::string_view DeepSeekToken(std::string_view text) {
  for (const std::string_view token :
       {kDeepSeekBegin, kDeepSeekUser, kDeepSeekAssistant, kDeepSeekEnd}) {
    if (text.find(token) != std::string_view::npos) return token;
  }
  return {};
}

// What looks like a control token in a Jinja program: <...> without blanks or
// quotes, and [CAPITALS]. Marks of thoughts are none: a message may show them.
std::vector<std::string> SpelledTokens(std::string_view source) {
  constexpr size_t kLongest = 64, kMost = 256;
  std::vector<std::string> tokens;
  for (size_t at = 0; at < source.size() && tokens.size() < kMost; ++at) {
    const char open = source[at];
    if (open != '<' && open != '[') continue;
    const char close = open == '<' ? '>' : ']';
    size_t end = at + 1;
    const auto may_be = [&](char c) {
      if (open == '[') return (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
      return c != '<' && c != '\'' && c != '"' && c != '=' && c != '\\' &&
             !IsSpace(c);
    };
    while (end < source.size() && end - at < kLongest && source[end] != close &&
           may_be(source[end])) {
      ++end;
    }
    if (end - at < 3 || end == source.size() || source[end] != close) continue;
    const std::string token(source.substr(at, end + 1 - at));
    if (token == "<think>" || token == "</think>" ||
        std::find(tokens.begin(), tokens.end(), token) != tokens.end()) {
      continue;
    }
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

struct ChatTemplate::MistralStyle {
  const char* name;
  const char* open;   // before a question
  const char* close;  // after it
  const char* reply;  // before an answer
  const char* end;    // after it
  // Where the system message goes: 'f' into the first question, 'l' into the
  // last, 'o' between its own marks.
  char system;
  bool trims;  // strips white space around answers
};

// As the chat_template of the model cards: Mistral-7B-Instruct-v0.1 and v0.2
// as first published, both as they are now (v1 of the tokenizer),
// Mistral-7B-Instruct-v0.3 (v3), Mistral-Nemo-Instruct-2407 (tekken),
// Mistral-Large-Instruct-2411 (v7).
absl::Span<const ChatTemplate::MistralStyle> ChatTemplate::MistralStyles() {
  static constexpr MistralStyle kStyles[] = {
      {"mistral-v0.1", "[INST] ", " [/INST]", "", "</s> ", 'f', false},
      {"mistral-v0.2", "[INST] ", " [/INST]", "", "</s>", 'f', false},
      {"mistral-v1", " [INST] ", " [/INST]", " ", "</s>", 'f', false},
      {"mistral-v3", "[INST] ", "[/INST]", " ", "</s>", 'l', true},
      {"mistral-tekken", "[INST]", "[/INST]", "", "</s>", 'l', false},
      {"mistral-v7", "[INST] ", "[/INST]", " ", "</s>", 'o', false},
  };
  return kStyles;
}

std::vector<std::string> ChatTemplate::Names() {
  std::vector<std::string> names = {"plain"};
  names.insert(names.end(), std::begin(kThinkNames), std::end(kThinkNames));
  names.insert(names.end(), {"llama3", "llama3.1", "deepseek", "deepseek-r1"});
  for (const MistralStyle& style : MistralStyles()) {
    names.push_back(style.name);
  }
  return names;
}

ChatTemplate ChatTemplate::ChatMl(ThinkStyle style) {
  ChatTemplate chat;
  chat.name_ = kThinkNames[static_cast<size_t>(style)];
  chat.family_ = Family::kChatMl;
  chat.think_ = style;
  return chat;
}

absl::StatusOr<ChatTemplate> ChatTemplate::Named(std::string_view name) {
  for (size_t i = 0; i < std::size(kThinkNames); ++i) {
    if (name == kThinkNames[i]) return ChatMl(static_cast<ThinkStyle>(i));
  }
  ChatTemplate chat;
  chat.name_ = std::string(name);
  if (name == "plain") return chat;
  if (name == "llama3" || name == "llama3.1") {
    chat.family_ = Family::kLlama3;
    return chat;
  }
  if (name == "deepseek" || name == "deepseek-r1") {
    chat.family_ = Family::kDeepSeek;
    return chat;
  }
  for (const MistralStyle& style : MistralStyles()) {
    if (name != style.name) continue;
    chat.family_ = Family::kMistral;
    return chat;
  }
  return absl::NotFoundError(UnknownName("chat template", name, Names()));
}

absl::StatusOr<ChatTemplate> ChatTemplate::Jinja(std::string source,
                                                 std::string bos,
                                                 std::string eos) {
  ChatTemplate chat;
  chat.name_ = kJinjaName;
  chat.family_ = Family::kJinja;
  ESP_ASSIGN_OR_RETURN(chat.jinja_, JinjaTemplate::Parse(source));
  chat.tokens_ = SpelledTokens(source);
  for (const std::string& token : {bos, eos}) {
    if (!token.empty()) chat.tokens_.push_back(token);
  }
  chat.source_ = std::move(source);
  chat.bos_ = std::move(bos);
  chat.eos_ = std::move(eos);
  ESP_ASSIGN_OR_RETURN(const std::string text,
                       chat.Render(std::vector<ChatMessage>{
                           {ChatRole::kUser, std::string(kMark)}}));
  if (text.find(kMark) == std::string::npos) {
    return absl::InvalidArgumentError(
        "the template does not show what the user says");
  }
  return chat;
}

std::string_view ChatTemplate::ControlToken(std::string_view text) const {
  switch (family_) {
    case Family::kPlain:
      return {};
    case Family::kMistral:
      return MistralToken(text);
    case Family::kDeepSeek:
      return DeepSeekToken(text);
    case Family::kJinja:
      for (const std::string& token : tokens_) {
        if (text.find(token) != std::string_view::npos) return token;
      }
      return BarToken(text);
    default:
      return BarToken(text);
  }
}

absl::Status ChatTemplate::CheckMessages(
    absl::Span<const ChatMessage> messages) const {
  size_t i = !messages.empty() && messages[0].role == ChatRole::kSystem;
  const size_t first = i;
  for (; i < messages.size(); ++i) {
    const bool user = (i - first) % 2 == 0;
    if (messages[i].role == (user ? ChatRole::kUser : ChatRole::kAssistant)) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "message ", i + 1, " of the conversation has the role ",
        RoleName(messages[i].role),
        "; expected an optional system message, then user and assistant "
        "messages in turn"));
  }
  if (messages.size() == first || messages.back().role != ChatRole::kUser) {
    return absl::InvalidArgumentError(
        "the conversation does not end with a user message, so there is "
        "nothing to answer");
  }
  for (const ChatMessage& message : messages) {
    const std::string_view token = ControlToken(message.text);
    if (token.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", RoleName(message.role), " message contains the control token ",
        AbslView(token), " of the chat template ", name_,
        ", which would end the message; remove it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ChatTemplate::Render(
    absl::Span<const ChatMessage> messages, bool thinking) const {
  ESP_RETURN_IF_ERROR(CheckMessages(messages));
  std::vector<ChatMessage> with_system;
  if (messages[0].role != ChatRole::kSystem && !default_system_.empty()) {
    with_system.push_back({ChatRole::kSystem, default_system_});
    with_system.insert(with_system.end(), messages.begin(), messages.end());
    messages = with_system;
  }
  switch (family_) {
    case Family::kChatMl:
      return RenderChatMl(messages, thinking);
    case Family::kLlama3:
      return RenderLlama3(messages);
    case Family::kDeepSeek:
      return RenderDeepSeek(messages);
    case Family::kMistral:
      return RenderMistral(messages);
    case Family::kJinja:
      return RenderJinja(messages, thinking, /*ask=*/true);
    default:
      return RenderPlain(messages);
  }
}

std::string ChatTemplate::AnswerEnd() const {
  switch (family_) {
    case Family::kChatMl:
      return "<|im_end|>\n";
    case Family::kLlama3:
      return "<|eot_id|>";
    case Family::kDeepSeek:
      return std::string(kDeepSeekEnd);
    case Family::kMistral:
      for (const MistralStyle& style : MistralStyles()) {
        if (name_ == style.name) return style.end;
      }
      return "";
    case Family::kJinja: {
      const auto text = RenderJinja(
          {{ChatRole::kUser, "?"}, {ChatRole::kAssistant, std::string(kMark)}},
          true, false);
      if (!text.ok()) return "";
      const size_t at = text->rfind(kMark);
      return at == std::string::npos ? "" : text->substr(at + kMark.size());
    }
    default:
      return "";
  }
}

absl::StatusOr<std::string> ChatTemplate::RenderJinja(
    absl::Span<const ChatMessage> messages, bool thinking, bool ask) const {
  JinjaList list;
  for (const ChatMessage& message : messages) {
    list.push_back(JinjaFields{{"role", RoleName(message.role)},
                               {"content", message.text}});
  }
  JinjaFields variables = {{"messages", std::move(list)},
                           {"add_generation_prompt", ask}};
  if (!bos_.empty()) variables.emplace_back("bos_token", bos_);
  if (!eos_.empty()) variables.emplace_back("eos_token", eos_);
  // By either name; templates without the switch read neither.
  if (!thinking) {
    variables.emplace_back("enable_thinking", false);
    variables.emplace_back("thinking", false);
  }
  return jinja_->Render(variables);
}

std::string ChatTemplate::RenderPlain(
    absl::Span<const ChatMessage> messages) const {
  std::string text;
  for (const ChatMessage& message : messages) {
    absl::StrAppend(&text, message.text,
                    message.role == ChatRole::kUser ? "" : "\n\n");
  }
  return text;
}

std::string ChatTemplate::RenderChatMl(absl::Span<const ChatMessage> messages,
                                       bool thinking) const {
  std::string text;
  for (const ChatMessage& message : messages) {
    std::string_view said = message.text;
    if (think_ != ThinkStyle::kNone && message.role == ChatRole::kAssistant) {
      said = AfterThought(said);
    }
    absl::StrAppend(&text, "<|im_start|>", RoleName(message.role), "\n",
                    AbslView(said), "<|im_end|>\n");
  }
  text += "<|im_start|>assistant\n";
  const bool can_close =
      think_ == ThinkStyle::kSwitch || think_ == ThinkStyle::kBoth;
  if (can_close && !thinking) {
    text += kNoThought;
  } else if (think_ == ThinkStyle::kOpen || think_ == ThinkStyle::kBoth) {
    text += "<think>\n";
  }
  return text;
}

std::string ChatTemplate::RenderLlama3(
    absl::Span<const ChatMessage> messages) const {
  std::string text = "<|begin_of_text|>";
  const auto add = [&](const char* role, absl::string_view before,
                       std::string_view said) {
    absl::StrAppend(&text, "<|start_header_id|>", role, "<|end_header_id|>\n\n",
                    before, AbslView(said), "<|eot_id|>");
  };
  const bool dates = name_ == "llama3.1";
  if (dates && messages[0].role != ChatRole::kSystem) {
    add("system", kLlamaDates, "");
  }
  for (const ChatMessage& message : messages) {
    const bool system = message.role == ChatRole::kSystem;
    add(RoleName(message.role), system && dates ? kLlamaDates : "",
        Trim(message.text));
  }
  return text + "<|start_header_id|>assistant<|end_header_id|>\n\n";
}

std::string ChatTemplate::RenderDeepSeek(
    absl::Span<const ChatMessage> messages) const {
  std::string text(kDeepSeekBegin);
  for (const ChatMessage& message : messages) {
    std::string_view said = message.text;
    if (message.role == ChatRole::kAssistant) {
      // Without its thinking, and with the white space after it.
      constexpr std::string_view kEnd = "</think>";
      const size_t at = said.rfind(kEnd);
      if (at != std::string_view::npos) said.remove_prefix(at + kEnd.size());
      absl::StrAppend(&text, AbslView(kDeepSeekAssistant), AbslView(said),
                      AbslView(kDeepSeekEnd));
      continue;
    }
    // A system message stands alone at the beginning.
    const bool user = message.role == ChatRole::kUser;
    absl::StrAppend(&text, user ? AbslView(kDeepSeekUser) : "", AbslView(said));
  }
  absl::StrAppend(&text, AbslView(kDeepSeekAssistant),
                  name_ == "deepseek-r1" ? "<think>\n" : "");
  return text;
}

std::string ChatTemplate::RenderMistral(
    absl::Span<const ChatMessage> messages) const {
  const MistralStyle* style = nullptr;
  for (const MistralStyle& one : MistralStyles()) {
    if (name_ == one.name) style = &one;
  }
  ESP_CHECK(style != nullptr);
  std::string text = "<s>";
  const std::string* system = nullptr;
  for (size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role == ChatRole::kAssistant) {
      const std::string_view said =
          style->trims ? Trim(message.text) : std::string_view(message.text);
      absl::StrAppend(&text, style->reply, AbslView(said), style->end);
      continue;
    }
    if (message.role == ChatRole::kSystem) {
      system = &message.text;
      if (style->system == 'o') {
        absl::StrAppend(&text, "[SYSTEM_PROMPT] ", *system, "[/SYSTEM_PROMPT]");
      }
      continue;
    }
    const bool first = i == 0 || &messages[i - 1].text == system;
    const bool here = system != nullptr &&
                      ((style->system == 'f' && first) ||
                       (style->system == 'l' && i + 1 == messages.size()));
    absl::StrAppend(&text, style->open, here ? *system : "", here ? "\n\n" : "",
                    message.text, style->close);
  }
  return text;
}

}  // namespace espalier
