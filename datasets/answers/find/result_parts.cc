// The parts of restated.h that end a longer text, and spellings of names.
#include <algorithm>

#include "datasets/answers/find/restated.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

constexpr size_t kLongestResult = 200;

// Without full stops, and signs such as emoji.
std::string_view WithoutEndSigns(std::string_view text) {
  text = TrimBlanks(text);
  while (!text.empty() &&
         (std::string_view(".! ").find(text.back()) != kNowhere ||
          (static_cast<unsigned char>(text.back()) >= 0x80 &&
           text.find_last_of(".!") != kNowhere &&
           text.find_last_of(".!") + 8 > text.size()))) {
    text.remove_suffix(1);
  }
  return text;
}

// The content of the only bold part, if nothing but signs is beside it in its
// line, words that announce the answer in front, and offers behind.
std::string OnlyBold(std::string_view text) {
  const size_t open = text.find("**");
  if (open == kNowhere) return {};
  const size_t close = text.find("**", open + 2);
  if (close == kNowhere || text.find("**", close + 2) != kNowhere) return {};
  const size_t line = text.substr(0, open).rfind('\n') + 1;
  const std::string_view front = text.substr(line, open - line);
  std::string_view behind = text.substr(close + 2);
  const std::string lead = PlainLower(TrimBlanks(text.substr(0, line)));
  const size_t end = std::min(behind.find('\n'), behind.size());
  const std::string later = PlainLower(TrimBlanks(behind.substr(end)));
  const bool announced =
      lead.ends_with(":") && Mentions(lead, Reading::kAnnounces) &&
      !Mentions(lead, Reading::kDenies) && !Mentions(lead, Reading::kMaybe) &&
      !Mentions(lead, Reading::kOtherTry) && !Mentions(lead, Reading::kWrong);
  if (!lead.empty() && !announced) return {};
  if (!later.empty() && BeginsIn(later, Reading::kChecks) == 0) return {};
  behind = behind.substr(0, end);
  const bool alone = !HasLetters(front) && !HasDigits(front) &&
                     !HasLetters(behind) && !HasDigits(behind);
  const std::string_view said = text.substr(open + 2, close - open - 2);
  const bool name = HasLetters(said) && !HasDigits(said) &&
                    said.find_first_of(":\n?") == kNowhere;
  return alone && name && said.size() <= 60 ? std::string(said) : std::string();
}

// "agree at minus 40" as "agree at -40"; empty if there is no such number.
std::string WithSign(std::string_view sentence) {
  constexpr std::string_view kMinus = " minus ";
  const size_t at = sentence.find(kMinus);
  const size_t end = at + kMinus.size();
  if (at == kNowhere || at == 0 || end >= sentence.size() ||
      !Digit(sentence[end]) || HasDigits(sentence.substr(0, at))) {
    return {};
  }
  return std::string(sentence.substr(0, at)) + " -" +
         std::string(sentence.substr(end));
}

bool Capitalised(std::string_view word) {
  return word.size() > 1 && word[0] >= 'A' && word[0] <= 'Z';
}

bool IsBareName(std::string_view text) {
  return Capitalised(text) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return Letter(static_cast<char>(c)) || c == ' ' || c == '-' ||
                  c == '.' || c >= 0x80;
         });
}

// "Newton.\n\nHe published it in 1687.": the first line.
std::string_view NameInFront(std::string_view text) {
  const size_t line = text.find('\n');
  if (line == kNowhere || line > 60) return {};
  const std::string_view first = WithoutEndSigns(text.substr(0, line));
  std::string rest = PlainLower(TrimBlanks(text.substr(line)));
  // "(Not to be confused with ...)"
  if (const size_t open = rest.find('('); open != std::string::npos) {
    const size_t close = rest.find(')', open);
    rest.erase(open, close == std::string::npos ? close : close - open + 1);
  }
  const bool more = BeginsIn(rest, Reading::kPronoun) > 0;
  const bool turns =
      Mentions(rest, Reading::kDenies) || Mentions(rest, Reading::kMaybe) ||
      Mentions(rest, Reading::kWrong) || Mentions(rest, Reading::kNamesOther);
  return more && !turns ? first : std::string_view();
}

}  // namespace

std::vector<std::string> ResultParts(std::string_view text) {
  constexpr size_t kLongestText = 4000;
  std::vector<std::string> out;
  text = TrimBlanks(WithoutThoughts(text));
  const std::string lower = PlainLower(text);
  if (text.size() > kLongestText || lower.find("boxed{") != std::string::npos) {
    return out;
  }
  if (std::string bold = OnlyBold(text); !bold.empty()) out.push_back(bold);
  const std::string_view front = WithoutEndSigns(text);
  const size_t line = front.rfind('\n');
  const std::string_view last =
      TrimBlanks(front.substr(line == kNowhere ? 0 : line));
  if (line != kNowhere && last.starts_with("= ") &&
      last.size() < kLongestResult) {
    out.emplace_back(last.substr(2));
  }
  const size_t colon = last.find(':');
  const std::string name =
      colon == kNowhere ? std::string() : PlainLower(last.substr(0, colon));
  // FinalLine reads those with a meaning.
  const auto rows = Rows(Reading::kResultLabel);
  const bool label =
      std::any_of(rows.begin(), rows.end(), [&name](const Phrase& row) {
        return row.pattern == name && row.meaning.empty();
      });
  if (label) {
    std::string said(TrimBlanks(last.substr(colon + 1)));
    if (said.size() > 2 && said.front() == '`' && said.back() == '`') {
      said = said.substr(1, said.size() - 2);
      // In code, log is the natural logarithm.
      for (size_t at = said.find("log("); at != std::string::npos;
           at = said.find("log(", at)) {
        said.replace(at, 3, "ln");
      }
    }
    out.push_back(std::move(said));
  }
  const size_t start = LastSentenceStart(front);
  const std::string_view sentence = front.substr(start);
  if (sentence.size() > kLongestResult ||
      std::string_view(lower).substr(0, start).find("answer") != kNowhere) {
    return out;
  }
  const bool concludes =
      BeginsIn(PlainLower(sentence), Reading::kTherefore) > 0;
  const size_t bold = sentence.ends_with("**") && sentence.size() > 4
                          ? sentence.rfind("**", sentence.size() - 3)
                          : kNowhere;
  const bool marked = bold != kNowhere && bold > 0;
  if (!concludes && !marked) return out;
  if (start > 0) out.emplace_back(sentence);
  if (std::string signs = WithSign(sentence); concludes && !signs.empty()) {
    out.push_back(std::move(signs));
  }
  if (const size_t stop = sentence.find("; "); stop != kNowhere) {
    out.emplace_back(sentence.substr(0, stop));
  }
  if (concludes && marked) {
    out.emplace_back(sentence.substr(bold + 2, sentence.size() - bold - 4));
  }
  return out;
}

std::vector<std::string> NameParts(std::string_view text) {
  constexpr size_t kLongestName = 60;
  std::vector<std::string> out;
  text = TrimBlanks(text);
  if (text.size() > 4 * kLongestResult) return out;
  std::string_view name = NameInFront(text);
  if (!name.empty() && IsBareName(name)) out.emplace_back(name);
  if (name.empty()) name = WithoutEndSigns(text);
  if (const size_t colon = name.rfind(": ");
      colon != kNowhere &&
      PlainLower(name.substr(0, colon)).ends_with("answer")) {
    const size_t from = name.find_first_not_of("* ", colon + 1);
    name = name.substr(from == kNowhere ? name.size() : from);
    while (name.ends_with("*")) name.remove_suffix(1);
  }
  if (name.size() > kLongestName) return out;
  const size_t comma = name.find(", ");
  if (comma != kNowhere && name.find(',', comma + 1) == kNowhere) {
    const std::string_view first = name.substr(0, comma),
                           behind = name.substr(comma + 2);
    const bool more =
        Holds(behind, Reading::kConjunction) || behind.find(" or ") != kNowhere;
    if (IsBareName(first) && IsBareName(behind) && !more) {
      const bool country = IsPhrase(Lower(behind), Reading::kCountry);
      // "They are Spain, France": two of them
      const size_t last = first.rfind(' ');
      const bool two =
          country && IsPhrase(Lower(first.substr(last + 1)), Reading::kCountry);
      if (two) return out;
      out.push_back(country ? std::string(first)
                            : std::string(behind) + " " + std::string(first));
    }
  }
  for (const Phrase& title : Rows(Reading::kTitle)) {
    const std::string lower = Lower(name);
    if (!lower.starts_with(title.pattern) || name == title.pattern) continue;
    std::string_view rest = name.substr(title.pattern.size());
    if (!rest.starts_with(" ") || !IsBareName(rest.substr(1))) continue;
    out.push_back(std::string(title.meaning) +
                  std::string(rest.substr(title.meaning.empty() ? 1 : 0)));
  }
  return out;
}

}  // namespace espalier
