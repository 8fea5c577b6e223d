#include "datasets/answers/words/times_dates.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

constexpr size_t kLongestTime = 60;

// In lower case without markup, full stops and commas.
std::string PlainTime(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    bool markup = false;
    for (const std::string_view command :
         {"\\text", "\\mathrm", "\\mbox", "\\textrm"}) {
      if (!markup && rest.starts_with(command) &&
          rest.substr(command.size()).starts_with("{")) {
        at += command.size();
        markup = true;
      }
    }
    if (markup || rest[0] == '}' || rest[0] == '.') continue;
    const bool space =
        rest[0] == '\\' || rest[0] == ',' || rest[0] == '~' || Blank(rest[0]);
    if (rest.starts_with("\\,") || rest.starts_with("\\;")) ++at;
    out += space ? ' '
                 : static_cast<char>(
                       std::tolower(static_cast<unsigned char>(rest[0])));
  }
  return out;
}

// Removes the digits that `text` begins with and returns their value; -1 for
// none or too many.
int TakeNumber(std::string_view& text, size_t most) {
  size_t end = 0;
  int value = 0;
  while (end < text.size() && Digit(text[end])) {
    if (end == most) return -1;
    value = 10 * value + (text[end++] - '0');
  }
  if (end == 0) return -1;
  text.remove_prefix(end);
  return value;
}

// 1 for "january", "jan"; 0 for other words.
int MonthOf(std::string_view word) {
  int month = 0;
  for (const std::string_view name : Phrases(Reading::kMonth)) {
    ++month;
    if (word == name || word == name.substr(0, 3) ||
        (name == "september" && word == "sept")) {
      return month;
    }
  }
  return 0;
}

// "25", "25th"
int DayOf(std::string_view word) {
  const int day = TakeNumber(word, 2);
  const bool ending = word.empty() || IsPhrase(word, Reading::kOrdinal);
  return ending && day >= 1 && day <= 31 ? day : 0;
}

std::string Written(int month, int day, int year) {
  int at = 0;
  for (const std::string_view name : Phrases(Reading::kMonth)) {
    if (++at != month) continue;
    std::string out = absl::StrCat(AbslView(name), " ", day);
    if (year > 0) absl::StrAppend(&out, " ", year);
    return out;
  }
  return {};
}

}  // namespace

namespace {

// "half past five in the afternoon", "one o'clock" as "5:30 in the afternoon",
// "1:00"; other texts unchanged.
std::string WithDigitsOfTime(std::string plain) {
  std::string_view rest = plain;
  for (const std::string_view article : {"a ", "at "}) {
    if (rest.starts_with(article)) rest.remove_prefix(article.size());
  }
  int minutes = 0;
  const bool past = StartsWith(rest, Reading::kPastHour) > 0;
  if (past) {
    const std::string_view words =
        rest.substr(0, StartsWith(rest, Reading::kPastHour));
    minutes = static_cast<int>(*NumberMeant(words, Reading::kPastHour));
    rest.remove_prefix(words.size());
  }
  const size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  int hour = 0;
  if (std::string_view digits = word; !digits.empty() && Digit(digits[0])) {
    hour = TakeNumber(digits, 2);
    if (!digits.empty()) return plain;
  } else if (const auto number = NumberMeant(word, Reading::kNumeral)) {
    hour = static_cast<int>(*number);
  }
  std::string_view behind = rest.substr(end);
  while (!behind.empty() && behind[0] == ' ') behind.remove_prefix(1);
  const size_t clock = StartsWith(behind, Reading::kOClock);
  if (hour < 1 || hour > 12 || (!past && clock == 0)) return plain;
  behind.remove_prefix(clock);
  const int total = 60 * hour + minutes;
  const int shown = total / 60 == 0 ? 12 : total / 60;
  return absl::StrFormat("%d:%02d", shown, total % 60) + " " +
         std::string(behind);
}

}  // namespace

std::string TimeOfDay(std::string_view text) {
  if (text.size() > kLongestTime) return {};
  std::string plain = PlainTime(text);
  while (plain.ends_with(" ")) plain.pop_back();
  for (const Phrase& time : Rows(Reading::kNamedTime)) {
    if (plain == time.pattern) return std::string(time.meaning);
  }
  const std::string words = WithDigitsOfTime(plain);
  const bool said = words != plain;
  plain = words;
  std::string_view rest = plain;
  const auto skip_blanks = [&rest] {
    while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  };
  skip_blanks();
  int hour = TakeNumber(rest, 2), minute = 0;
  if (hour < 0 || hour > 23) return {};
  const bool colon = rest.starts_with(":");
  bool full = false;
  if (colon) {
    rest.remove_prefix(1);
    if (rest.size() < 2 || !Digit(rest[1])) return {};
    full = rest[0] == '0';
    minute = TakeNumber(rest, 2);
    if (minute < 0 || minute > 59) return {};
  }
  skip_blanks();
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  const bool morning = IsPhrase(rest, Reading::kMorning);
  if (morning || IsPhrase(rest, Reading::kAfternoon)) {
    if (hour < 1 || hour > 12) return {};
    return absl::StrFormat("%d:%02d", hour % 12 + (morning ? 0 : 12), minute);
  }
  if (!colon || !(full || said) || !rest.empty()) return {};
  if (hour == 0 || hour > 12) return absl::StrFormat("%d:%02d", hour, minute);
  return absl::StrFormat("%d:%02d o'clock", hour, minute);
}

std::string DateOf(std::string_view text) {
  if (text.size() > kLongestTime) return {};
  const std::string plain = PlainTime(text);
  std::vector<std::string> words =
      absl::StrSplit(plain, ' ', absl::SkipEmpty());
  if (words.empty()) return {};
  if (words.size() == 1) {
    const std::vector<std::string> parts = absl::StrSplit(words[0], '-');
    if (parts.size() != 3 || parts[0].size() != 4 || parts[1].size() != 2 ||
        parts[2].size() != 2 ||
        // "6r^2-4r-24"
        words[0].find_first_not_of("0123456789-") != std::string::npos) {
      return {};
    }
    std::string_view year_text = parts[0], month_text = parts[1];
    const int year = TakeNumber(year_text, 4);
    const int month = TakeNumber(month_text, 2), day = DayOf(parts[2]);
    const bool date = year > 0 && month >= 1 && month <= 12 && day > 0;
    return date ? Written(month, day, year) : std::string();
  }
  if (words[0] == "the") words.erase(words.begin());
  if (words.size() > 1 && words[1] == "of") words.erase(words.begin() + 1);
  if (words.size() < 2 || words.size() > 3) return {};
  int month = MonthOf(words[0]), day = DayOf(words[1]);
  if (month == 0) {
    month = MonthOf(words[1]);
    day = DayOf(words[0]);
  }
  int year = 0;
  if (words.size() == 3) {
    std::string_view rest = words[2];
    year = words[2].size() == 4 ? TakeNumber(rest, 4) : -1;
    if (year <= 0 || !rest.empty()) return {};
  }
  return month > 0 && day > 0 ? Written(month, day, year) : std::string();
}

namespace {

struct WholeDate {
  int month = 0, day = 0, year = 0;
  size_t end = 0;  // behind it; 0 if there is none
  bool open = false;
};

constexpr int kFirstYear = 1000, kLastYear = 2999;

WholeDate Checked(WholeDate date) {
  const bool valid = date.month >= 1 && date.month <= 12 && date.day >= 1 &&
                     date.day <= 31 && date.year >= kFirstYear &&
                     date.year <= kLastYear;
  return valid ? date : WholeDate();
}

// "05/14/1987", "14.05.1987", "1987-05-14" at the start of a text.
WholeDate DateInDigits(std::string_view text, DateOrder order) {
  constexpr size_t kLongest = 10;
  std::string_view rest = text.substr(0, kLongest);
  int parts[3];
  size_t sizes[3];
  char sign = '\0';
  for (int i = 0; i < 3; ++i) {
    const size_t before = rest.size();
    parts[i] = TakeNumber(rest, 4);
    sizes[i] = before - rest.size();
    if (parts[i] < 0) return {};
    if (i == 2) break;
    if (rest.empty() || std::string_view("/.-").find(rest[0]) == kNowhere ||
        (i == 1 && rest[0] != sign)) {
      return {};
    }
    sign = rest[0];
    rest.remove_prefix(1);
  }
  WholeDate out;
  out.end = std::min(text.size(), kLongest) - rest.size();
  if (out.end < text.size() && (Digit(text[out.end]) || Letter(text[out.end]) ||
                                text[out.end] == sign)) {
    return {};
  }
  if (sizes[0] == 4 && sizes[1] <= 2 && sizes[2] <= 2) {
    out.year = parts[0];
    out.month = parts[1];
    out.day = parts[2];
    return Checked(out);
  }
  if (sizes[2] != 4 || sizes[0] > 2 || sizes[1] > 2) return {};
  const bool month_first =
      parts[1] > 12 || (parts[0] <= 12 && order == DateOrder::kMonthFirst);
  out.open = parts[0] <= 12 && parts[1] <= 12 && parts[0] != parts[1];
  out.month = parts[month_first ? 0 : 1];
  out.day = parts[month_first ? 1 : 0];
  out.year = parts[2];
  return Checked(out);
}

// "May 14th, 1987", "the 14th of May 1987" at the start of a text.
WholeDate DateWithMonth(std::string_view text) {
  constexpr size_t kLongest = 60;
  constexpr int kMostWords = 5;
  WholeDate out;
  size_t at = 0;
  text = text.substr(0, kLongest);
  for (int i = 0; i < kMostWords && out.year == 0; ++i) {
    const size_t start = at;
    while (at < text.size() && (Letter(text[at]) || Digit(text[at]))) ++at;
    const std::string word = Lower(text.substr(start, at - start));
    if (at < text.size() && text[at] == '.' &&
        Letter(word.empty() ? ' ' : word[0]))
      ++at;
    std::string_view digits = word;
    if (const int month = MonthOf(word); month > 0 && out.month == 0) {
      out.month = month;
    } else if (const int day = DayOf(word); day > 0 && out.day == 0) {
      out.day = day;
    } else if (word.size() == 4 && Digit(word[0])) {
      out.year = TakeNumber(digits, 4);
      if (!digits.empty()) return {};
      break;
    } else if (word != "of" && !(word == "the" && i == 0)) {
      return {};
    }
    const size_t blank = at;
    while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
    if (at == blank) return {};
  }
  out.end = at;
  const bool ends = at >= text.size() || !(Digit(text[at]) || Letter(text[at]));
  return ends ? Checked(out) : WholeDate();
}

// "Thursday, " in front of a date.
size_t DayNameLength(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && Letter(text[end])) ++end;
  if (end == 0 || !IsPhrase(Lower(text.substr(0, end)), Reading::kDay)) {
    return 0;
  }
  while (end < text.size() && (text[end] == ' ' || text[end] == ',')) ++end;
  return end;
}

// Whether what stands between two mentions of one date says that it is one.
bool SaysSame(std::string_view between) {
  std::string plain;
  for (const char c : between) {
    if (c != ' ' && c != '*' && c != '$') plain += c;
  }
  static constexpr std::string_view kSigns[] = {"->", "\u2192", "=",   "(",
                                                "or", ",or",    "\\to"};
  return std::find(std::begin(kSigns), std::end(kSigns), plain) !=
         std::end(kSigns);
}

}  // namespace

std::string WithDatesInWords(std::string_view text, DateOrder order,
                             bool* open) {
  constexpr size_t kNear = 12;
  std::string out, last;
  size_t behind = kNowhere;  // in `out`, the end of the last date
  for (size_t at = 0; at < text.size();) {
    const bool begins =
        at == 0 || !(Digit(text[at - 1]) || Letter(text[at - 1]) ||
                     text[at - 1] == '/' || text[at - 1] == '.');
    WholeDate date;
    size_t start = at;
    if (begins && (Letter(text[at]) || Digit(text[at]))) {
      start += DayNameLength(text.substr(at, 20));
      if (start < text.size()) {
        date = DateInDigits(text.substr(start), order);
        if (date.end == 0) date = DateWithMonth(text.substr(start));
      }
    }
    if (date.end == 0) {
      out += text[at++];
      continue;
    }
    if (open != nullptr) *open |= date.open;
    std::string written = Written(date.month, date.day, 0);
    written[0] = static_cast<char>(written[0] - 'a' + 'A');
    absl::StrAppend(&written, ", ", date.year);
    at = start + date.end;
    // "November 25, 2021 -> 11/25/2021"
    if (written == last && out.size() - behind <= kNear &&
        SaysSame(std::string_view(out).substr(behind))) {
      const bool bracket = out.find('(', behind) != kNowhere;
      out.resize(behind);
      if (bracket && at < text.size() && text[at] == ')') ++at;
    } else {
      out += written;
    }
    last = std::move(written);
    behind = out.size();
  }
  return out;
}

bool IsWholeDate(std::string_view text) {
  while (!text.empty() && Blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (Blank(text.back()) || text.back() == '.')) {
    text.remove_suffix(1);
  }
  const size_t start = DayNameLength(text);
  text.remove_prefix(std::min(start, text.size()));
  if (text.empty()) return false;
  const size_t end = DateInDigits(text, DateOrder::kMonthFirst).end;
  return end == text.size() || DateWithMonth(text).end == text.size();
}

}  // namespace espalier
