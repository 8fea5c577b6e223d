#include "datasets/tasks/word_pattern.h"

#include <bit>
#include <utility>

#include "base/check.h"

namespace espalier {

struct WordPattern::Parser {
  std::string_view text;
  std::span<const NamedPattern> named;
  size_t at = 0;

  char Next() {
    while (at < text.size() && text[at] == ' ') ++at;
    return at < text.size() ? text[at] : '\0';
  }

  std::string Word() {
    const size_t end = text.find_first_of(" ()[]{}|", at);
    const size_t begin = std::exchange(at, std::min(end, text.size()));
    ESP_CHECK(at > begin);
    return std::string(text.substr(begin, at - begin));
  }

  Node Bracket(Kind kind, char close) {
    ++at;
    Node node{kind, "", {Any()}};
    ESP_CHECK(Next() == close);
    ++at;
    return node;
  }

  Node Named() {
    ++at;
    const std::string name = Word();
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i].name != name) continue;
      return Parser{named[i].pattern, named.first(i)}.Whole();
    }
    ESP_CHECK(false && "a pattern refers to one that is not defined before it");
    return {};
  }

  Node All() {
    Node all;
    while (true) {
      switch (const char c = Next(); c) {
        case '\0':
        case '|':
        case ')':
        case ']':
        case '}':
          return all;
        case '(':
          all.parts.push_back(Bracket(Kind::kAll, ')'));
          break;
        case '[':
          all.parts.push_back(Bracket(Kind::kOptional, ']'));
          break;
        case '{':
          all.parts.push_back(Bracket(Kind::kRepeated, '}'));
          break;
        case '@':
          all.parts.push_back(Named());
          break;
        case '$':
          ++at;
          all.parts.push_back({Kind::kSlot, Word(), {}});
          break;
        default:
          all.parts.push_back({Kind::kWord, Word(), {}});
      }
    }
  }

  Node Any() {
    Node any{Kind::kAny, "", {All()}};
    while (Next() == '|') {
      ++at;
      any.parts.push_back(All());
    }
    return any.parts.size() == 1 ? std::move(any.parts[0]) : any;
  }

  Node Whole() {
    Node node = Any();
    ESP_CHECK(Next() == '\0');
    return node;
  }
};

WordPattern::WordPattern(std::string_view pattern,
                         std::span<const NamedPattern> named)
    : root_(Parser{pattern, named}.Whole()) {}

WordPlaces WordPattern::Ends(std::span<const std::string> words,
                             WordPlaces starts, const SlotReader& slot) const {
  ESP_CHECK(words.size() <= kMaxPatternWords);
  return NodeEnds(root_, words, starts, slot);
}

WordPlaces WordPattern::NodeEnds(const Node& node,
                                 std::span<const std::string> words,
                                 WordPlaces starts, const SlotReader& slot) {
  if (starts == 0) return 0;
  WordPlaces ends = 0;
  switch (node.kind) {
    case Kind::kWord:
    case Kind::kSlot:
      for (WordPlaces left = starts; left != 0; left &= left - 1) {
        const auto i = static_cast<size_t>(std::countr_zero(left));
        if (node.kind == Kind::kSlot) {
          ends |= slot(node.word[0], i);
        } else if (i < words.size() && words[i] == node.word) {
          ends |= WordPlaces{1} << (i + 1);
        }
      }
      return ends;
    case Kind::kAll:
      for (const Node& part : node.parts) {
        starts = NodeEnds(part, words, starts, slot);
      }
      return starts;
    case Kind::kAny:
      for (const Node& part : node.parts) {
        ends |= NodeEnds(part, words, starts, slot);
      }
      return ends;
    case Kind::kOptional:
      return starts | NodeEnds(node.parts[0], words, starts, slot);
    case Kind::kRepeated:
      for (WordPlaces fresh = starts; fresh != 0;) {
        ends |= fresh;
        fresh = NodeEnds(node.parts[0], words, fresh, slot) & ~ends;
      }
      return ends;
  }
  return 0;
}

}  // namespace espalier
