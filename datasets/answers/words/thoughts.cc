#include "datasets/answers/words/thoughts.h"

#include <algorithm>
#include <string>

#include "datasets/answers/words/characters.h"

namespace espalier {
namespace {

// Names of the tags around thoughts, in lower case.
constexpr std::string_view kThoughtTags[] = {
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
    "inner_monologue",
    "ponder",
    "longcat_think",
    "think_fast",
    "reasoning_content",
    "reason",
    "cot",
    "internal",
    "internal_monologue",
    "deliberation",
    "deliberate",
    "chain_of_thought",
};
// Longer ones are not tags.
constexpr size_t kLongestTag = 60;

struct Tag {
  bool begins = false, ends = false;
  size_t end = 0;  // position behind it
};

bool IsThoughtMark(std::string_view name) {
  return std::find(std::begin(kThoughtTags), std::end(kThoughtTags), name) !=
         std::end(kThoughtTags);
}

// What stands behind "<|channel|>" at `at`: the name of a channel, all of whose
// texts but the final one's are thoughts.
Tag ReadChannel(std::string_view text, size_t at) {
  constexpr std::string_view kMessage = "<|message|>", kFinal = "final";
  const std::string_view rest = text.substr(at, kLongestTag);
  const size_t message = rest.find(kMessage);
  if (message == std::string_view::npos) return {.begins = true, .end = at};
  return {.begins = !rest.starts_with(kFinal),
          .ends = rest.starts_with(kFinal),
          .end = at + message + kMessage.size()};
}

// The tag that opens at `at`: "<think>", "</think>", "[THINK]",
// "<|begin_of_thought|>", "\u25c1think\u25b7", "[BEGIN_THINK]", and the
// channels of gpt-oss: "<|channel|>analysis<|message|>".
Tag ReadTag(std::string_view text, size_t at) {
  constexpr std::string_view kLeft = "\u25c1", kRight = "\u25b7";
  // "[Reasoning]" is a heading.
  if (text[at] == '[') {
    const std::string head = Lower(text.substr(at, 12));
    const auto is = [&](std::string_view tag) { return head.starts_with(tag); };
    if (!is("[think") && !is("[/think") && !is("[begin_think") &&
        !is("[end_think")) {
      return {};
    }
  }
  const bool wide = text.substr(at).starts_with(kLeft);
  const std::string_view close = wide              ? kRight
                                 : text[at] == '[' ? std::string_view("]")
                                                   : std::string_view(">");
  const size_t begin = at + (wide ? kLeft.size() : 1);
  // Early exit, for texts made of brackets.
  if (begin >= text.size() || (!Letter(text[begin]) && !Blank(text[begin]) &&
                               text[begin] != '|' && text[begin] != '/')) {
    return {};
  }
  const std::string_view rest = text.substr(begin, kLongestTag);
  const size_t length = rest.find(close);
  if (length == std::string_view::npos) return {};
  std::string inner = Lower(rest.substr(0, length));
  Tag tag{.end = begin + length + close.size()};
  std::erase_if(inner, [](char c) { return c == '|' || Blank(c); });
  std::string_view name = inner;
  // "<seed:think>", "</seed:think>", of whatever maker.
  const auto without_maker = [](std::string_view word) {
    const size_t colon = word.find(':');
    return colon == std::string_view::npos ? word : word.substr(colon + 1);
  };
  if (name.starts_with("/")) {
    tag.ends = IsThoughtMark(without_maker(name.substr(1)));
    return tag;
  }
  name = without_maker(name);
  if (inner == "channel") return ReadChannel(text, tag.end);
  // Gemma's marks of its thoughts.
  if (inner == "unused94" || inner == "unused95") {
    tag.begins = inner == "unused94";
    tag.ends = !tag.begins;
    return tag;
  }
  for (const std::string_view mark :
       {"begin_of_", "start_of_", "begin_", "start_"}) {
    if (!name.starts_with(mark)) continue;
    tag.begins = IsThoughtMark(name.substr(mark.size()));
    return tag;
  }
  for (const std::string_view mark : {"end_of_", "end_"}) {
    if (!name.starts_with(mark)) continue;
    tag.ends = IsThoughtMark(name.substr(mark.size()));
    return tag;
  }
  // "<think id=1>"
  const std::string plain = Lower(rest.substr(0, length));
  const size_t blank = plain.find(' ');
  const bool attributes =
      blank != std::string::npos && plain.find('=') != std::string::npos;
  tag.begins =
      IsThoughtMark(name) ||
      (attributes && IsThoughtMark(std::string_view(plain).substr(0, blank)));
  return tag;
}

}  // namespace

std::string_view WithoutThoughts(std::string_view text) {
  size_t said = 0, begun = kNowhere;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '<' && c != '[' && c != '\xe2') continue;
    if (c == '\xe2' && !text.substr(at).starts_with("\u25c1")) continue;
    const Tag tag = ReadTag(text, at);
    if (tag.begins && begun == kNowhere) begun = at;
    if (tag.ends) {
      said = tag.end;
      begun = kNowhere;
    }
    if (tag.begins || tag.ends) at = tag.end - 1;
  }
  return text.substr(said, begun == kNowhere ? kNowhere : begun - said);
}

}  // namespace espalier
