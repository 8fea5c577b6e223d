#include "datasets/answers/words/bare_words.h"

#include <algorithm>
#include <set>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// Commands that only say how their text looks.
bool IsMarkup(std::string_view command) {
  static const std::set<std::string_view> kMarkup = {
      "text", "textbf", "textit", "textrm", "mathrm", "mathbf",
      "mbox", "boxed",  "fbox",   "left",   "right",  "big",
      "quad", "qquad",  "emph",   "bf",     "rm",     "framebox"};
  return kMarkup.contains(command);
}

}  // namespace

std::vector<std::string> BareWords(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool command =
        c == '\\' && at + 1 < text.size() && Letter(text[at + 1]);
    size_t end = at + (command ? 1 : 0);
    if (command) {
      while (end < text.size() && Letter(text[end])) ++end;
      const std::string_view name = text.substr(at + 1, end - at - 1);
      if (!IsMarkup(name)) out.push_back(Lower(name));
    } else if (Letter(c)) {
      std::string word;
      while (
          end < text.size() &&
          (Letter(text[end]) || (text[end] == '-' && end + 1 < text.size() &&
                                 Letter(text[end + 1]) && word.size() > 1))) {
        if (text[end] != '-') word += text[end];
        ++end;
      }
      word = Lower(word);
      const auto number = NumberMeant(word, Reading::kNumeral);
      out.push_back(number ? std::to_string(*number) : word);
    } else if (Digit(c)) {
      while (end < text.size() &&
             (Digit(text[end]) ||
              (std::string_view(".,:").find(text[end]) != kNowhere &&
               end + 1 < text.size() && Digit(text[end + 1])))) {
        ++end;
      }
      out.emplace_back(text.substr(at, end - at));
    } else {
      ++end;
      if (!Blank(c) && std::string_view("$\\{}*_\"'`~!").find(c) == kNowhere) {
        out.emplace_back(1, c);
      }
    }
    at = end;
  }
  return out;
}

std::string JoinWords(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

size_t LastSentenceStart(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !Letter(text[end - 1]) && !Digit(text[end - 1])) --end;
  return SentenceStart(text.substr(0, end));
}

}  // namespace espalier
