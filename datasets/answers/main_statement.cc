#include "datasets/answers/main_statement.h"

#include <algorithm>
#include <cstdlib>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr std::string_view kBoldMark = "**";
constexpr size_t kLongestResponseSaid = 480;
constexpr size_t kLongestYearSaid = 240;

bool UpperCase(char c) { return c >= 'A' && c <= 'Z'; }

// The end of the first sentence; that of an initial is none: "Neil A. Lee".
size_t FirstEnd(std::string_view text) {
  for (size_t at = 1; at + 1 < text.size(); ++at) {
    if (text[at] == '\n') return at;
    const bool stop = text[at] == '.' || text[at] == '!' || text[at] == '?';
    if (!stop || !Blank(text[at + 1]) || Abbreviated(text, at + 1)) continue;
    const bool initial = text[at] == '.' && UpperCase(text[at - 1]) &&
                         (at == 1 || !Letter(text[at - 2]));
    if (!initial) return at + 1;
  }
  return text.size();
}

// The first two words of a text in lower case.
std::string_view OpeningWords(std::string_view lower) {
  return lower.substr(0, lower.find(' ', lower.find(' ') + 1));
}

std::string_view WithoutStops(std::string_view text) {
  text = TrimBlanks(text);
  while (text.ends_with(".") || text.ends_with("!")) text.remove_suffix(1);
  return text;
}

// Without who came next: "Yuri Gagarin | , followed weeks later by Ann Lee".
std::string_view WithoutNext(std::string_view sentence) {
  for (size_t comma = sentence.find(", "); comma != kNowhere;
       comma = sentence.find(", ", comma + 1)) {
    const std::string behind = PlainLower(sentence.substr(comma + 2));
    if (BeginsIn(behind, Reading::kComesNext) > 0 &&
        !Mentions(behind, Reading::kCopula) &&
        behind.find(" but ") == std::string::npos) {
      return sentence.substr(0, comma);
    }
  }
  return sentence;
}

// Without emphasis and brackets that hold a measure or years: "(54 yards)".
std::string WithoutMeasures(std::string_view sentence) {
  std::string out;
  for (size_t at = 0; at < sentence.size(); ++at) {
    const std::string_view rest = sentence.substr(at);
    if (rest[0] == '*') continue;
    if (rest.starts_with(" (")) {
      const size_t close = rest.find(')');
      const std::string_view inside =
          rest.substr(2, close == kNowhere ? 0 : close - 2);
      const bool measure =
          HasDigits(inside) && inside.find('=') == kNowhere &&
          std::none_of(inside.begin(), inside.end(), UpperCase);
      if (measure) {
        at += close;
        continue;
      }
    }
    out += rest[0];
  }
  return out;
}

}  // namespace

std::string MainStatement(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongestResponseSaid) return {};
  const std::string_view whole = WithoutStops(text);
  const size_t source =
      BeginsIn(PlainLower(text.substr(0, 60)), Reading::kSourceLead);
  text.remove_prefix(source);
  text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  const size_t end = FirstEnd(text);
  std::string later = PlainLower(TrimBlanks(text.substr(end)));
  if (!later.empty()) {
    for (const std::string_view next : Phrases(Reading::kComesNext)) {
      const size_t at = later.find(next);
      if (at != std::string::npos) later.erase(at, next.size());
    }
    if (BeginsIn(later, Reading::kPronoun) == 0 || !SaysPlainly(later) ||
        later.find("answer") != std::string::npos ||
        later.find('\n') != std::string::npos ||
        // "It was Ann Lee. It was Bob Ray."
        PlainLower(text).starts_with(OpeningWords(later))) {
      return {};
    }
  }
  std::string said =
      WithoutMeasures(WithoutNext(WithoutStops(text.substr(0, end))));
  if (said.find_first_of(":\\=?\n") != std::string::npos || said == whole) {
    return {};
  }
  return said;
}

std::string_view WithoutCourtesy(std::string_view text) {
  constexpr size_t kLongestCourtesy = 120, kLongestCourteous = 2000;
  text = TrimBlanks(text);
  if (text.size() > kLongestCourteous) return {};
  const std::string_view whole = text;
  const size_t end = FirstEnd(text);
  const std::string first = PlainLower(WithoutStops(text.substr(0, end)));
  if (end < text.size() && IsPhrase(first, Reading::kCourtesy)) {
    text = TrimBlanks(text.substr(end));
  }
  // "Here's the quick answer:", "According to the passage,"
  const std::string lead = PlainLower(text.substr(0, 60));
  const size_t announced = BeginsIn(lead, Reading::kQuickAnswer);
  const size_t source = BeginsIn(lead, Reading::kSourceLead);
  if (announced > 0 && lead.substr(announced).starts_with(":")) {
    text = TrimBlanks(text.substr(announced + 1));
  } else if (source > 0 && lead.substr(source).starts_with(", ")) {
    text = TrimBlanks(text.substr(source + 2));
  }
  for (size_t at = text.size(); at > 0;) {
    at = text.substr(0, at).find_last_of(".!?\n");
    if (at == kNowhere || text.size() - at > kLongestCourtesy) break;
    const std::string last = PlainLower(TrimBlanks(text.substr(at + 1)));
    if (BeginsIn(last, Reading::kCourtesyBehind) == 0) continue;
    const std::string_view written = TrimBlanks(text.substr(at + 1));
    // Names, numbers and doubts may be about the answer.
    const bool name = std::any_of(
        written.begin() + 1, written.end(), [&written](const char& c) {
          const char next = &c < &written.back() ? *(&c + 1) : ' ';
          return UpperCase(c) && !(c == 'I' && !Letter(next));
        });
    // "about other South American capitals"
    const bool others = last.find(" other ") != std::string::npos;
    if ((name && !others) || HasDigits(last) ||
        last.find("answer") != std::string::npos ||
        last.find("mistake") != std::string::npos ||
        Mentions(last, Reading::kWrong) || Mentions(last, Reading::kDenies) ||
        Mentions(last, Reading::kNamesOther)) {
      break;
    }
    text = TrimBlanks(text.substr(0, at + 1));
    at = text.size();
    break;
  }
  return text.size() < whole.size() ? text : std::string_view();
}

std::string YearStated(std::string_view text) {
  constexpr int kFirst = 1000, kLast = 2100;
  text = WithoutStops(text);
  std::string bare;
  if (text.size() <= kLongestYearSaid) {
    bare = WithoutMeasures(text);
    text = WithoutStops(bare);
  }
  if (text.size() > kLongestYearSaid || FirstEnd(text) < text.size() ||
      text.find_first_of("\\=?:$\n") != kNowhere || !SaysPlainly(text)) {
    return {};
  }
  size_t start = kNowhere;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && Digit(text[end])) ++end;
    if (end - at == 4) {
      const int year = std::atoi(std::string(text.substr(at, 4)).c_str());
      if (start != kNowhere || year < kFirst || year > kLast) return {};
      start = at;
    } else if (end - at > 2) {
      return {};
    }
    at = std::max(end, at + 1);
  }
  if (start == kNowhere || start == 0) return {};
  // "on April 15, |", "on 15 April |", "in April |"
  std::string lead = PlainLower(TrimBlanks(text.substr(0, start)));
  if (lead.ends_with(",")) lead.pop_back();
  const auto day = [&lead] {
    size_t size = lead.size();
    while (size > 0 && Digit(lead[size - 1])) --size;
    const bool digits = size < lead.size();
    lead.resize(TrimBlanks(std::string_view(lead).substr(0, size)).size());
    return digits;
  };
  bool digits = day();
  const size_t month = EndsIn(lead, Reading::kMonth);
  if (month == 0) return {};
  lead.resize(
      TrimBlanks(std::string_view(lead).substr(0, lead.size() - month)).size());
  digits |= day();
  const bool on = lead.ends_with(" on") || lead.ends_with(" of");
  const bool in = lead.ends_with(" in") && !digits;
  const bool states = (on || in) && Holds(lead, Reading::kVerb);
  // "sank on", "was signed on": a verb of its own, without one that is asked.
  const bool plain =
      (on || in) && Affirms(lead) && lead.find(' ') < lead.size();
  if (!(states || plain) || Mentions(lead, Reading::kOtherTime) ||
      Mentions(lead, Reading::kNotYet) ||
      BeginsIn(lead, Reading::kSubordinate) > 0) {
    return {};
  }
  // "| , after it struck an iceberg"
  const std::string tail = PlainLower(text.substr(start + 4));
  const bool ends =
      tail.empty() || tail[0] == ',' || tail.starts_with(" (") ||
      (tail[0] == ' ' &&
       BeginsIn(std::string_view(tail).substr(1), Reading::kSubordinate) > 0);
  const bool other = HasDigits(tail) || Mentions(tail, Reading::kNotYet);
  return ends && !other ? std::string(text.substr(start, 4)) : std::string();
}

std::string_view LastLabelled(std::string_view text) {
  constexpr size_t kLongestValue = 80;
  text = TrimBlanks(text);
  // "**Label:** value" or "**Label**: value"
  const auto label_of = [](std::string_view line) {
    line = TrimBlanks(line);
    line.remove_prefix(std::min(line.find_first_not_of("- "), line.size()));
    const size_t close =
        line.starts_with(kBoldMark) ? line.find(kBoldMark, 2) : kNowhere;
    if (close == kNowhere) return std::string_view();
    const bool inside = line[close - 1] == ':';
    const bool behind = line.substr(close + 2).starts_with(":");
    if (inside == behind) return std::string_view();
    return line.substr(2, close - 2 - (inside ? 1 : 0));
  };
  const size_t line = text.rfind('\n');
  if (line == kNowhere || text.size() > 4000) return {};
  const std::string_view last = text.substr(line + 1);
  const std::string_view before = TrimBlanks(text.substr(0, line));
  const std::string label = PlainLower(label_of(last));
  if (label.empty() ||
      label_of(before.substr(before.rfind('\n') + 1)).empty() ||
      PlainLower(text).find("answer") != std::string::npos ||
      IsPhrase(label, Reading::kOwnLabel) ||
      IsPhrase(label, Reading::kOwnTime) ||
      EndsIn(label, Reading::kPartLabel) > 0 ||
      BeginsIn(label, Reading::kChecks) > 0 || !SaysPlainly(last)) {
    return {};
  }
  std::string_view value = TrimBlanks(last);
  value.remove_prefix(value.find(kBoldMark, value.find(kBoldMark) + 2) + 2);
  value.remove_prefix(std::min(value.find_first_not_of(": "), value.size()));
  // Check marks at the end.
  while (!value.empty() && (static_cast<unsigned char>(value.back()) >= 0x80 ||
                            Blank(value.back()) || value.back() == '.')) {
    size_t start = value.size() - 1;
    while (start > 0 && (value[start] & 0xc0) == 0x80) --start;
    const std::string_view sign = value.substr(start);
    if (sign.size() > 1 && !sign.starts_with("\xf0\x9f") &&
        !sign.starts_with("\xe2\x9c") && sign != "\uFE0F") {
      break;
    }
    value.remove_suffix(sign.size());
  }
  return value.size() <= kLongestValue ? value : std::string_view();
}

}  // namespace espalier
