#include "datasets/tasks/sentences.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 3> kWideStops = {"。", "！", "？"};
constexpr std::array<std::string_view, 2> kShortForms = {"St.", "No."};
constexpr std::array<std::string_view, 4> kTitles = {"mr.", "mrs.", "ms.",
                                                     "dr."};  // in any case

std::string CollapseSpace(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// True if `text`, which ends with a full stop, ends with an abbreviation or an
// initial rather than a sentence.
bool EndsWithShortForm(std::string_view text) {
  const std::string_view word = text.substr(text.rfind(' ') + 1);
  if (word.size() == 2 && absl::ascii_isupper(word[0])) return true;
  return std::find(kShortForms.begin(), kShortForms.end(), word) !=
             kShortForms.end() ||
         std::find(kTitles.begin(), kTitles.end(),
                   absl::AsciiStrToLower(AbslView(word))) != kTitles.end();
}

// The end of the sentence that begins at `begin` of `text`, whose white space
// is collapsed.
size_t SentenceEnd(std::string_view text, size_t begin) {
  for (size_t i = begin; i < text.size(); ++i) {
    for (const std::string_view stop : kWideStops) {
      if (text.substr(i).starts_with(stop)) return i + stop.size();
    }
    if (text[i] != '.' && text[i] != '!' && text[i] != '?') continue;
    size_t end = text.find_first_not_of(".!?\"')]", i);
    if (end == text.npos) return text.size();
    if (text[end] != ' ') {
      i = end - 1;
      continue;
    }
    const bool lone_stop = end == i + 1 && text[i] == '.';
    const std::string_view sentence = text.substr(begin, end - begin);
    if (lone_stop && EndsWithShortForm(sentence)) continue;
    if (lone_stop && sentence.ends_with(" no.") && end + 1 < text.size() &&
        absl::ascii_isdigit(text[end + 1])) {
      continue;  // "house no. 5"
    }
    return end;
  }
  return text.size();
}

}  // namespace

std::vector<std::string> SplitSentences(std::string_view text) {
  const std::string flat = CollapseSpace(text);
  std::vector<std::string> sentences;
  size_t begin = 0;
  while (begin < flat.size()) {
    const size_t end = SentenceEnd(flat, begin);
    sentences.push_back(flat.substr(begin, end - begin));
    begin = end;
    if (begin < flat.size() && flat[begin] == ' ') ++begin;
  }
  return sentences;
}

std::string SentenceTag(size_t index) {
  std::string tag;
  for (size_t rest = index + 1; rest > 0; rest = (rest - 1) / 26) {
    tag += static_cast<char>('a' + (rest - 1) % 26);
  }
  std::reverse(tag.begin(), tag.end());
  return tag;
}

std::optional<size_t> SentenceIndex(std::string_view tag) {
  if (tag.empty() || tag.size() > 4) return std::nullopt;
  size_t number = 0;
  for (const char c : tag) {
    if (c < 'a' || c > 'z') return std::nullopt;
    number = number * 26 + static_cast<size_t>(c - 'a') + 1;
  }
  return number - 1;
}

}  // namespace espalier
