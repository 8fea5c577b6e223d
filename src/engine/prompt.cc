#include "src/engine/prompt.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/text_proto.h"
#include "models/prompt/find_template.h"
#include "src/engine/answer_pattern.h"
#include "src/engine/prompt.pb.h"

namespace espalier {
namespace {

using google::protobuf::TextFormat;

// More are slow to search for and surely a mistake.
constexpr int kMostStops = 16;
constexpr int kMostStepTokens = 1 << 20;
constexpr int kMostSteps = 4096;

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

// The text of a file, for errors that give the line.
struct Source {
  PromptConfig config;
  TextProtoPlaces places;

  // `index` of a repeated field, else -1.
  absl::Status Error(const char* field, int index,
                     const std::string& message) const {
    return places.Error(field, index, message);
  }
};

absl::Status ReadQuestion(const Source& source, Prompt& prompt) {
  const PromptConfig& config = source.config;
  if (!config.template_().empty()) prompt.template_name = config.template_();
  prompt.jinja = config.jinja();
  prompt.bos = config.bos();
  prompt.eos = config.eos();
  if (!prompt.jinja.empty() && prompt.template_name != "jinja") {
    return source.Error("jinja", -1, "goes with template: \"jinja\"");
  }
  if (prompt.template_name != "auto") {
    const auto known = TemplateOf(prompt).status();
    if (!known.ok()) {
      return source.Error("template", -1, std::string(known.message()));
    }
  }
  if (config.has_system()) prompt.system = config.system();
  for (int i = 0; i < config.example_size(); ++i) {
    const PromptExample& example = config.example(i);
    if (example.question().empty() || example.answer().empty()) {
      return source.Error("example", i, "expected a question and an answer");
    }
    prompt.examples.push_back({example.question(), example.answer()});
  }
  if (!config.question().empty()) prompt.question = config.question();
  const size_t at = prompt.question.find(kQuestionMark);
  if (at == std::string::npos ||
      prompt.question.find(kQuestionMark, at + 1) != std::string::npos) {
    return source.Error("question", -1,
                        absl::StrCat("expected ", kQuestionMark,
                                     " in it once, where the question goes; "
                                     "found ",
                                     Quoted(prompt.question)));
  }
  if (config.has_thinking()) prompt.thinking = config.thinking();
  return absl::OkStatus();
}

// Control tokens have no text, so a string that spells one never appears in a
// response.
bool SpellsControl(const std::string& text) {
  return text.find("<|") != std::string::npos &&
         text.find("|>") != std::string::npos;
}

absl::Status ReadStops(const Source& source, StepFormat& format) {
  const PromptConfig& config = source.config;
  if (config.has_delimiter()) format.delimiter = config.delimiter();
  const std::string& delimiter = format.delimiter;
  if (SpellsControl(delimiter)) {
    return source.Error(
        "delimiter", -1,
        Quoted(delimiter) +
            " is a control token, which ends the response and has no text; "
            "expected text between steps, e.g. \"\\n\\n\"");
  }
  if (config.stop_size() > kMostStops) {
    return source.Error("stop", kMostStops,
                        absl::StrCat("expected at most ", kMostStops,
                                     ", found ", config.stop_size()));
  }
  for (int i = 0; i < config.stop_size(); ++i) {
    const std::string& stop = config.stop(i);
    if (stop.empty() || SpellsControl(stop)) {
      return source.Error(
          "stop", i,
          "expected text that ends a response, found " + Quoted(stop));
    }
    // The delimiter would end a step inside such a stop, and the rest of the
    // stop is searched for separately.
    for (size_t k = 1; k <= std::min(delimiter.size(), stop.size()); ++k) {
      if (stop.compare(0, k, delimiter, delimiter.size() - k, k) != 0 ||
          k == stop.size()) {
        continue;
      }
      return source.Error(
          "stop", i,
          absl::StrCat(Quoted(stop), " begins with the end of the delimiter ",
                       Quoted(delimiter), ", which would cut it; expected ",
                       Quoted(stop.substr(k))));
    }
    format.stop_strings.push_back(stop);
  }
  for (int i = 0; i < config.final_prefix_size(); ++i) {
    if (config.final_prefix(i).empty()) {
      return source.Error("final_prefix", i, "expected text, found none");
    }
    format.final_prefixes.push_back(config.final_prefix(i));
  }
  return absl::OkStatus();
}

absl::Status ReadLimits(const Source& source, StepFormat& format) {
  const PromptConfig& config = source.config;
  const auto read = [&](const char* field, int value, int highest,
                        int* out) -> absl::Status {
    if (value < 0 || value > highest) {
      return source.Error(
          field, -1,
          absl::StrCat("expected 1 to ", highest, ", found ", value));
    }
    if (value > 0) *out = value;
    return absl::OkStatus();
  };
  ESP_RETURN_IF_ERROR(
      read("max_steps", config.max_steps(), kMostSteps, &format.max_steps));
  ESP_RETURN_IF_ERROR(read("max_step_tokens", config.max_step_tokens(),
                           kMostStepTokens, &format.max_step_tokens));
  if (config.segment_tokens() == 0) return absl::OkStatus();
  if (config.max_step_tokens() != 0) {
    return source.Error(
        "segment_tokens", -1,
        "cannot be combined with max_step_tokens: a segment ends where a "
        "longer step would be cut; remove one of them");
  }
  format.segments = true;
  return read("segment_tokens", config.segment_tokens(), kMostStepTokens,
              &format.max_step_tokens);
}

absl::Status ReadAnswers(const Source& source, Prompt& prompt) {
  for (int i = 0; i < source.config.answer_size(); ++i) {
    const std::string& answer = source.config.answer(i);
    const auto pattern = AnswerPattern::Create(answer);
    if (!pattern.ok()) {
      return source.Error("answer", i, std::string(pattern.status().message()));
    }
    prompt.answers.push_back(answer);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Prompt> ParsePrompt(const std::string& text,
                                   const std::string& where) {
  Source source;
  ESP_RETURN_IF_ERROR(ParseTextProto(text, where, "delimiter: \"\\n\\n\"",
                                     source.config, &source.places));
  Prompt prompt;
  ESP_RETURN_IF_ERROR(ReadQuestion(source, prompt));
  ESP_RETURN_IF_ERROR(ReadStops(source, prompt.format));
  ESP_RETURN_IF_ERROR(ReadLimits(source, prompt.format));
  ESP_RETURN_IF_ERROR(ReadAnswers(source, prompt));
  return prompt;
}

absl::StatusOr<Prompt> ReadPrompt(const std::string& name) {
  std::vector<std::string> names;
  for (const PresetFile& file : PromptFiles()) {
    if (file.name == name) {
      return ParsePrompt(std::string(file.text), "prompt " + name);
    }
    names.emplace_back(file.name);
  }
  if (!name.ends_with(".textproto")) {
    return absl::NotFoundError(UnknownName("prompt", name, names) +
                               "; a prompt file must be named NAME.textproto");
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
  return ParsePrompt(text, name);
}

absl::StatusOr<ChatTemplate> TemplateOf(const Prompt& prompt) {
  if (!prompt.jinja.empty()) {
    return ChatTemplate::Jinja(prompt.jinja, prompt.bos, prompt.eos);
  }
  return ChatTemplate::Named(prompt.template_name);
}

absl::Status ResolvePrompt(const std::string& checkpoint, Prompt& prompt) {
  if (!prompt.jinja.empty()) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const ChatTemplate chat,
                       FindTemplate(checkpoint, prompt.template_name));
  prompt.template_name = chat.name();
  prompt.jinja = chat.source();
  prompt.bos = chat.bos();
  prompt.eos = chat.eos();
  if (!prompt.system && !chat.default_system().empty()) {
    prompt.system = chat.default_system();
  }
  return absl::OkStatus();
}

std::string PromptText(const Prompt& prompt) {
  PromptConfig config;
  config.set_template_(prompt.template_name);
  config.set_jinja(prompt.jinja);
  config.set_bos(prompt.bos);
  config.set_eos(prompt.eos);
  if (prompt.system) config.set_system(*prompt.system);
  for (const Prompt::Example& one : prompt.examples) {
    PromptExample* example = config.add_example();
    example->set_question(one.question);
    example->set_answer(one.answer);
  }
  config.set_question(prompt.question);
  config.set_thinking(prompt.thinking);
  const StepFormat& format = prompt.format;
  config.set_delimiter(format.delimiter);
  if (format.segments) {
    config.set_segment_tokens(format.max_step_tokens);
  } else {
    config.set_max_step_tokens(format.max_step_tokens);
  }
  config.set_max_steps(format.max_steps);
  for (const std::string& stop : format.stop_strings) config.add_stop(stop);
  for (const std::string& prefix : format.final_prefixes) {
    config.add_final_prefix(prefix);
  }
  for (const std::string& answer : prompt.answers) config.add_answer(answer);
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(config, &text);
  return text;
}

}  // namespace espalier
