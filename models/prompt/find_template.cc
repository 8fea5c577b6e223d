#include "models/prompt/find_template.h"

#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "models/checkpoint/gguf.h"
#include "models/tokenizer/tokenizer_config.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether `part` is a whole literal, in either of Jinja's quotes.
bool HasLiteral(std::string_view text, std::string_view part) {
  return Has(text, absl::StrCat("'", std::string(part), "'")) ||
         Has(text, absl::StrCat("\"", std::string(part), "\""));
}

// `text` with the escape \n of its literals replaced by newlines.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
      out += '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The default system message of a ChatML template: the one literal that holds a
// whole system message.
std::string DefaultSystem(const std::string& text) {
  constexpr std::string_view kOpen = "<|im_start|>system\n";
  size_t end = 0;
  for (size_t at = text.find(kOpen), next = 0; at != std::string::npos;
       at = next) {
    const size_t begin = at + kOpen.size();
    next = text.find(kOpen, begin);
    if (end < begin) end = text.find("<|im_end|>", begin);
    if (end == std::string::npos) break;
    // No message begins inside another.
    if (next < end) continue;
    const std::string said = text.substr(begin, end - begin);
    if (said.find_first_of("'\"{}") == std::string::npos) return said;
  }
  return "";
}

ThinkStyle StyleOf(const std::string& text) {
  const size_t at = text.rfind("add_generation_prompt");
  if (at == std::string::npos) return ThinkStyle::kNone;
  std::string tail = text.substr(at);
  constexpr std::string_view kEmpty = "<think>\n\n</think>\n\n";
  const size_t closed = tail.find(kEmpty);
  const bool closes = closed != std::string::npos;
  if (closes) tail.erase(closed, kEmpty.size());
  const bool opens = Has(tail, "<think>\n");
  if (closes) return opens ? ThinkStyle::kBoth : ThinkStyle::kSwitch;
  return opens ? ThinkStyle::kOpen : ThinkStyle::kNone;
}

// The name of a Mistral spacing; "" if unknown.
std::string MistralName(std::string_view text) {
  const bool wide_close = HasLiteral(text, " [/INST]");
  if (HasLiteral(text, " [INST] ")) return wide_close ? "mistral-v1" : "";
  const bool system_marks = Has(text, "[SYSTEM_PROMPT]");
  if (HasLiteral(text, "[INST]") && !wide_close) {
    return system_marks ? "" : "mistral-tekken";
  }
  if (!HasLiteral(text, "[INST] ")) return "";
  if (!wide_close) return system_marks ? "mistral-v7" : "mistral-v3";
  return Has(text, "eos_token + ' '") ? "mistral-v0.1" : "mistral-v0.2";
}

// The text of tokenizer.chat_template in a GGUF file; nothing if it has none.
absl::StatusOr<std::optional<std::string>> TextOfGguf(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  const GgufValue* value = file.Find("tokenizer.chat_template");
  if (value == nullptr) return std::nullopt;
  const auto text = value->Text();
  if (!text) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": tokenizer.chat_template: expected a text, found ",
                     value->Describe()));
  }
  return std::string(*text);
}

absl::Status Unknown(const std::string& where) {
  return absl::UnimplementedError(
      absl::StrCat(where,
                   ": unknown chat template; name a known one instead "
                   "(--template, or template: in a prompt file): ",
                   absl::StrJoin(ChatTemplate::Names(), ", ")));
}

// The text of "chat_template" in tokenizer_config.json; nothing if it has none.
absl::StatusOr<std::optional<std::string>> TextOfConfig(
    const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  const auto json = ParseJsonOrNull(file);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a JSON object"));
  }
  const auto it = json.find("chat_template");
  if (it == json.end() || it->is_null()) return std::nullopt;
  if (it->is_string()) return it->get<std::string>();
  if (it->is_array()) {
    for (const auto& one : *it) {
      if (one.is_object() && one.value("name", nlohmann::json()) == "default" &&
          one.contains("template") && one["template"].is_string()) {
        return one["template"].get<std::string>();
      }
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": chat_template is neither a text nor a list with one named "
      "\"default\""));
}

}  // namespace

absl::StatusOr<ChatTemplate> RecogniseTemplate(std::string_view text,
                                               const std::string& where) {
  if (Has(text, "<|im_start|>") && Has(text, "<|im_end|>") &&
      !Has(text, "<|im_sep|>")) {
    const std::string plain = Unescape(text);
    ChatTemplate chat = ChatTemplate::ChatMl(StyleOf(plain));
    chat.set_default_system(DefaultSystem(plain));
    return chat;
  }
  if (Has(text, "<|start_header_id|>") && Has(text, "<|eot_id|>")) {
    return ChatTemplate::Named(
        Has(text, "Cutting Knowledge Date: December 2023") ? "llama3.1"
                                                           : "llama3");
  }
  // R1's. V3.1's, which can switch its thinking off, is another.
  if (Has(text, "<｜User｜>") && Has(text, "<｜Assistant｜>") &&
      Has(text, "split('</think>')[-1]") && !Has(text, "thinking")) {
    const std::string plain = Unescape(text);
    return ChatTemplate::Named(
        Has(plain, "<｜Assistant｜><think>\n") ? "deepseek-r1" : "deepseek");
  }
  if (Has(text, "[INST]") && !Has(text, "<<SYS>>")) {
    const std::string name = MistralName(text);
    if (!name.empty()) return ChatTemplate::Named(name);
  }
  return Unknown(where);
}

namespace {

// What a template may print besides messages.
struct Marks {
  std::string bos, eos;
};

absl::StatusOr<Marks> MarksOfGguf(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  const GgufValue* texts = file.Find("tokenizer.ggml.tokens");
  const auto text = [&](const char* key) -> std::string {
    const GgufValue* id = file.Find(key);
    const auto at = id == nullptr ? std::nullopt : id->Whole();
    if (texts == nullptr || !at || *at < 0) return "";
    return std::string(
        texts->Text(static_cast<size_t>(*at)).value_or(std::string_view()));
  };
  return Marks{text("tokenizer.ggml.bos_token_id"),
               text("tokenizer.ggml.eos_token_id")};
}

// Whether two templates read conversations of every form alike.
bool RenderAlike(const ChatTemplate& a, const ChatTemplate& b) {
  const ChatMessage system = {ChatRole::kSystem, "Be brief."},
                    user = {ChatRole::kUser, "What is 2+3?"},
                    thought = {ChatRole::kAssistant,
                               "<think>\nhm\n</think>\n5"},
                    answer = {ChatRole::kAssistant, "It is 5."};
  const std::vector<ChatMessage> conversations[] = {
      {user},
      {system, user},
      {user, answer, user},
      {system, user, thought, user, answer, user}};
  for (const auto& messages : conversations) {
    for (const bool thinking : {true, false}) {
      const auto x = a.Render(messages, thinking);
      const auto y = b.Render(messages, thinking);
      if (x.ok() != y.ok() || (x.ok() && *x != *y)) return false;
    }
  }
  return true;
}

// The known template that the program is, or else the program itself.
absl::StatusOr<ChatTemplate> TemplateOf(const std::string& text,
                                        const std::string& where,
                                        const Marks& marks) {
  absl::StatusOr<ChatTemplate> known = RecogniseTemplate(text, where);
  absl::StatusOr<ChatTemplate> chat =
      ChatTemplate::Jinja(text, marks.bos, marks.eos);
  if (known.ok() && (!chat.ok() || RenderAlike(*known, *chat))) return known;
  if (chat.ok()) return chat;
  return absl::InvalidArgumentError(absl::StrCat(
      where, ": chat template: ", chat.status().message(),
      "; name a known one instead (--template, or template: in a prompt "
      "file): ",
      absl::StrJoin(ChatTemplate::Names(), ", ")));
}

}  // namespace

absl::StatusOr<ChatTemplate> FindTemplate(const std::string& folder,
                                          const std::string& name) {
  if (name != "auto") return ChatTemplate::Named(name);
  std::error_code error;
  if (fs::is_regular_file(folder, error)) {
    ESP_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         TextOfGguf(folder));
    if (text) {
      ESP_ASSIGN_OR_RETURN(const Marks marks, MarksOfGguf(folder));
      return TemplateOf(*text, folder, marks);
    }
  }
  Marks marks;
  if (const auto tokens = ReadTokenizerConfig(folder); tokens.ok()) {
    marks = {tokens->bos, tokens->eos};
  }
  const std::string jinja = folder + "/chat_template.jinja";
  if (fs::exists(jinja, error)) {
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(jinja));
    return TemplateOf(text, jinja, marks);
  }
  const std::string config = folder + "/tokenizer_config.json";
  if (fs::exists(config, error)) {
    ESP_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         TextOfConfig(config));
    if (text) return TemplateOf(*text, config, marks);
  }
  return absl::NotFoundError(absl::StrCat(
      folder,
      ": the checkpoint has no chat template (chat_template.jinja, or "
      "chat_template in tokenizer_config.json); a base model continues plain "
      "text. To chat with it anyway, name a template (--template, or template: "
      "in a prompt file): ",
      absl::StrJoin(ChatTemplate::Names(), ", ")));
}

}  // namespace espalier
