#include "datasets/sets/option_marks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/sets/answer_kinds.h"

namespace espalier {
namespace {

// The letter of the mark at the start of `text`, ' ' if it has none, and
// whether it may as well be the first letter of a name, "A. ".
struct AnyMark {
  char letter = ' ';
  bool initial = false;
};

AnyMark AnyMarkOf(std::string_view text) {
  const size_t at = text.find_first_of(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  if (at == std::string_view::npos) return {};
  const char letter = absl::ascii_toupper(text[at]);
  const size_t length = MarkAt(text, letter);
  if (length == 0) return {};
  return {letter, text.substr(0, length).find('.') != std::string_view::npos};
}

}  // namespace

char OptionLetter(size_t option) { return static_cast<char>('A' + option); }

size_t MarkAt(std::string_view text, char letter) {
  size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  };
  const bool open = text.starts_with("(");
  if (open) ++at;
  skip();
  if (at == text.size() || absl::ascii_toupper(text[at]) != letter) return 0;
  ++at;
  skip();
  if (at == text.size()) return 0;
  const std::string_view ends = open ? ")" : ").:";
  if (ends.find(text[at]) == std::string_view::npos) return 0;
  ++at;
  skip();
  return at;
}

void TakeMarks(ListedOptions& options) {
  const size_t count = options.texts.size();
  // Of "A. Smith", letters up to this one count as labels: a few options may
  // have been left out, but names have any letter.
  const char last = OptionLetter(std::min(count + 2, kMostOptions - 1));
  std::string letters;
  size_t initials = 0;
  bool ordered = true, near = true;
  std::set<char> different;
  for (size_t i = 0; i < count; ++i) {
    const AnyMark mark = AnyMarkOf(Trimmed(options.texts[i]));
    letters += mark.letter;
    initials += mark.initial ? 1 : 0;
    ordered = ordered && mark.letter == OptionLetter(i);
    near = near && mark.letter <= last;
    if (mark.letter != ' ') different.insert(mark.letter);
  }
  const auto marked =
      static_cast<size_t>(count - static_cast<size_t>(std::count(
                                      letters.begin(), letters.end(), ' ')));
  if (marked == 0 ||
      (!ordered && (options.lettered || !options.labels.empty()))) {
    return;
  }
  const bool labels = ordered || (different.size() == count && initials == 0);
  if (!labels) {
    const bool names =
        initials > 0 && (marked < count || !near || different.size() < count);
    if (!names && 2 * marked > count) options.doubtful = letters;
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    std::string text = Trimmed(options.texts[i]);
    options.texts[i] = text.substr(MarkAt(text, letters[i]));
    if (!ordered) options.labels.emplace_back(1, letters[i]);
  }
  options.lettered = ordered;
}

std::vector<std::string> SplitOptions(std::string_view text) {
  // Where each mark begins and ends.
  std::vector<std::pair<size_t, size_t>> marks;
  for (size_t at = 0; at < text.size() && marks.size() < kMostOptions; ++at) {
    const bool begins = at == 0 || absl::ascii_isspace(text[at - 1]) ||
                        text[at - 1] == ',' || text[at - 1] == ';';
    if (!begins) continue;
    const size_t mark = MarkAt(text.substr(at), OptionLetter(marks.size()));
    if (mark == 0) continue;
    marks.emplace_back(at, at + mark);
    at += mark - 1;
  }
  std::vector<std::string> options;
  if (marks.size() < 2 || !Trimmed(text.substr(0, marks[0].first)).empty()) {
    return options;
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    const size_t end = i + 1 < marks.size() ? marks[i + 1].first : text.size();
    std::string option =
        Trimmed(text.substr(marks[i].second, end - marks[i].second));
    if (i + 1 < marks.size() &&
        (option.ends_with(",") || option.ends_with(";"))) {
      option = Trimmed(std::string_view(option).substr(0, option.size() - 1));
    }
    options.push_back(std::move(option));
  }
  return options;
}

std::string DoubtAbout(std::string_view text, const ListedOptions& options) {
  if (text.size() != 1 || !absl::ascii_isalpha(text[0])) return "";
  const char letter = absl::ascii_toupper(text[0]);
  const auto place = static_cast<size_t>(letter - 'A');
  if (!options.doubtful.empty()) {
    const std::string& marks = options.doubtful;
    const bool agreed =
        marks.find(letter) == place && marks.rfind(letter) == place;
    if (agreed) return "";
    return absl::StrCat(
        "the right option \"", AbslView(text), "\" may be option ",
        std::string(1, letter), " of the list or the one that begins with ",
        std::string(1, letter),
        ": not all options begin with the letters A, "
        "B, C in this order; give its index from 0 under \"answer_index\"");
  }
  if (options.lettered || !options.labels.empty()) return "";
  for (size_t i = 0; i < options.texts.size(); ++i) {
    if (i == place || Trimmed(options.texts[i]) != text) continue;
    if (place >= options.texts.size()) continue;
    return absl::StrCat(
        "the right option \"", AbslView(text),
        "\" names one option by its letter and another by its text; give its "
        "index from 0 under \"answer_index\", or put the letters before the "
        "options, as in \"A) ...\"");
  }
  return "";
}

std::string EqualToGold(std::string_view letters,
                        const std::vector<std::string>& options) {
  for (const char letter : letters) {
    const auto right = static_cast<size_t>(letter - 'A');
    for (size_t i = 0; i < options.size(); ++i) {
      const char other = OptionLetter(i);
      if (letters.find(other) != std::string_view::npos ||
          Trimmed(options[i]) != Trimmed(options.at(right))) {
        continue;
      }
      return absl::StrCat("option ", std::string(1, other),
                          " has the same text as option ",
                          std::string(1, letter), ", the right one");
    }
  }
  return "";
}

}  // namespace espalier
