#include "datasets/programs/input_examples.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace espalier {
namespace {

using TextLines = std::vector<absl::string_view>;

enum class Heading { kNone, kExamples, kInput, kOutput, kOther };

bool OneOf(const std::string& text,
           std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// `examples`: a line "Input" heads an example; otherwise it heads a
// description. Headings begin with a capital or are decorated: "example" is
// common in inputs.
Heading HeadingOf(absl::string_view line, bool examples) {
  line = absl::StripAsciiWhitespace(line);
  const bool dashes =
      line.substr(0, 3) == "---" && line.substr(line.size() - 3) == "---";
  const auto Decoration = [](char c) {
    return absl::ascii_isspace(c) || c == '-' || c == '#' || c == '*' ||
           c == ':';
  };
  if (!line.empty() && absl::ascii_islower(line.front())) return Heading::kNone;
  while (!line.empty() && Decoration(line.front())) line.remove_prefix(1);
  while (!line.empty() &&
         (Decoration(line.back()) || absl::ascii_isdigit(line.back()))) {
    line.remove_suffix(1);
  }
  const std::string text = absl::AsciiStrToLower(line);
  if (text.empty()) return Heading::kNone;
  if (OneOf(text, {"example", "examples", "sample", "samples"})) {
    return Heading::kExamples;
  }
  if (OneOf(text, {"sample input", "example input"})) return Heading::kInput;
  if (OneOf(text, {"sample output", "example output"})) {
    return Heading::kOutput;
  }
  if (text == "input") return examples ? Heading::kInput : Heading::kOther;
  if (text == "output") return examples ? Heading::kOutput : Heading::kOther;
  const bool other =
      dashes || OneOf(text, {"note", "notes", "explanation", "constraints"});
  return other ? Heading::kOther : Heading::kNone;
}

// The backquotes that open a fenced block; "" if the line opens none.
absl::string_view FenceOf(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t length = std::min(line.find_first_not_of('`'), line.size());
  return length >= 3 ? line.substr(0, length) : absl::string_view();
}

bool BlankLine(absl::string_view line) {
  return absl::StripAsciiWhitespace(line).empty();
}

void AddLine(absl::string_view line, std::string& text) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  absl::StrAppend(&text, line, "\n");
}

// The text under the heading in the line before `at`, which advances past it.
// Nothing if there is none.
std::optional<std::string> BodyAt(const TextLines& lines, bool output,
                                  size_t& at) {
  while (at < lines.size() && BlankLine(lines[at])) ++at;
  std::string text;
  if (at < lines.size() && !FenceOf(lines[at]).empty()) {
    const absl::string_view fence = FenceOf(lines[at++]);
    while (at < lines.size() &&
           absl::StripAsciiWhitespace(lines[at]) != fence) {
      AddLine(lines[at++], text);
    }
    if (at < lines.size()) ++at;
    return text;
  }
  size_t blank = 0;  // lines, which count if more text follows
  for (; at < lines.size() && HeadingOf(lines[at], true) == Heading::kNone;
       ++at) {
    if (BlankLine(lines[at])) {
      ++blank;
      continue;
    }
    if (blank > 0 && output) continue;  // an explanation
    text.append(std::exchange(blank, 0), '\n');
    AddLine(lines[at], text);
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::string Fenced(std::string_view body) {
  std::string fence = "```";
  while (body.find(fence) != std::string_view::npos) fence += '`';
  const bool open = !body.empty() && body.back() != '\n';
  return absl::StrCat(fence, "\n", AbslView(body), open ? "\n" : "", fence,
                      "\n");
}

}  // namespace

std::vector<InputCase> InputExamples(std::string_view question) {
  const TextLines lines = absl::StrSplit(AbslView(question), '\n');
  std::vector<InputCase> cases;
  std::optional<std::string> input;
  bool examples = false;
  for (size_t at = 0; at < lines.size();) {
    const Heading heading = HeadingOf(lines[at], examples);
    ++at;
    if (heading == Heading::kExamples) examples = true;
    if (heading == Heading::kOther) examples = false;
    if (heading == Heading::kInput) input = BodyAt(lines, false, at);
    if (heading != Heading::kOutput) continue;
    std::optional<std::string> output = BodyAt(lines, true, at);
    if (input && output) cases.push_back({*std::move(input), *output});
    input.reset();
  }
  return cases;
}

std::string InputQuestion(const CodeProblem& problem) {
  std::string text = problem.prompt;
  const std::vector<InputCase> shown = InputExamples(text);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text +=
      "\nWrite a Python program that reads standard input and writes to "
      "standard output.\n";
  for (const InputCase& one : problem.public_cases) {
    const bool there =
        std::any_of(shown.begin(), shown.end(), [&](const InputCase& other) {
          return SameOutput(one.input, other.input) &&
                 SameOutput(one.output, other.output);
        });
    if (there) continue;
    absl::StrAppend(&text, "\nExample input:\n", Fenced(one.input),
                    "Example output:\n", Fenced(one.output));
  }
  return text;
}

}  // namespace espalier
