#include "datasets/answers/words/number_words.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr int64_t kHighest = 1000000000000000000;
// "nine hundred ninety nine million ..." has no more words.
constexpr size_t kMostWords = 24;

using WordList = std::vector<std::string>;

std::optional<int64_t> Small(std::string_view word) {
  return NumberMeant(word, Reading::kNumeral);
}

std::optional<int64_t> Tens(std::string_view word) {
  return NumberMeant(word, Reading::kTens);
}

std::optional<int64_t> Scale(std::string_view word) {
  return NumberMeant(word, Reading::kScale);
}

// "three hundred and twenty one thousand five"
std::optional<int64_t> Whole(const WordList& words) {
  if (words.empty()) return std::nullopt;
  // "half a dozen", folded
  if (words.size() == 2 && NumberMeant(words[0], Reading::kPart) == 2) {
    const auto scale = Scale(words[1]);
    return scale ? std::optional<int64_t>(*scale / 2) : std::nullopt;
  }
  int64_t total = 0, group = 0;
  // What may still follow within a group is smaller than this.
  int64_t below = 1000, scale_below = kHighest;
  bool any = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "and" && any && i + 1 < words.size()) continue;
    if (const auto unit = Small(word)) {
      if (below <= *unit || (below == 10 && *unit == 0)) return std::nullopt;
      group += *unit;
      below = 0;
    } else if (const auto tens = Tens(word)) {
      if (below <= 20) return std::nullopt;
      group += *tens;
      below = 10;
    } else if (word == "hundred") {
      if (group > 19 || (any && group == 0)) return std::nullopt;
      group = 100 * (group == 0 ? 1 : group);
      below = 100;
    } else if (const auto scale = Scale(word)) {
      if (*scale >= scale_below || (any && group == 0)) return std::nullopt;
      total += *scale * (group == 0 ? 1 : group);
      group = 0;
      below = 1000;
      scale_below = *scale;
    } else {
      return std::nullopt;
    }
    any = true;
  }
  return total + group;
}

// "half", "thirds", "quarters": the denominator.
std::optional<int64_t> Denominator(std::string_view word) {
  if (const auto part = NumberMeant(word, Reading::kPart)) return part;
  if (!word.ends_with("s")) return std::nullopt;
  return NumberMeant(word.substr(0, word.size() - 1), Reading::kPart);
}

bool IsDecimal(std::string_view word) {
  return !word.empty() && word.size() <= 20 &&
         word.find_first_not_of("0123456789.") == std::string_view::npos &&
         word.front() != '.' && word.back() != '.';
}

// Whether a text begins with these words.
bool BeginsWord(std::string_view text, std::string_view words) {
  return text.starts_with(words) &&
         (text.size() == words.size() || text[words.size()] == ' ');
}

}  // namespace

std::string NumberInWords(std::string_view folded) {
  if (folded.empty() || folded.size() > 300) return {};
  WordList words = absl::StrSplit(
      absl::string_view(folded.data(), folded.size()), ' ', absl::SkipEmpty());
  if (words.empty() || words.size() > kMostWords) return {};
  std::string sign;
  if (words.size() > 1 && IsPhrase(words[0], Reading::kNegative)) {
    sign = "-";
    words.erase(words.begin());
    // "negative 5"
    if (words.size() == 1 && IsDecimal(words[0])) return sign + words[0];
  }
  if (words.size() > 1 && words[0] == "positive" && sign.empty()) {
    words.erase(words.begin());
    if (words.size() == 1 && IsDecimal(words[0])) return words[0];
  }
  if (const auto whole = Whole(words)) return absl::StrCat(sign, *whole);
  // "2.5 million"
  if (words.size() == 2 && IsDecimal(words[0])) {
    if (const auto scale = Scale(words[1])) {
      return absl::StrCat(sign, words[0], "*", *scale);
    }
  }
  // "square root of 3", "root 3"
  for (const Phrase& root : Rows(Reading::kRootOf)) {
    if (!folded.starts_with(root.pattern)) continue;
    const std::string_view of = TrimBlanks(folded.substr(root.pattern.size()));
    if (!IsDecimal(of) || of.size() + root.pattern.size() == folded.size())
      break;
    return absl::StrCat(std::string(root.meaning), "{", std::string(of), "}");
  }
  // "1 in 4", "1 out of 4"
  if (words.size() == 3 && words[1] == "in" && IsDecimal(words[0]) &&
      IsDecimal(words[2])) {
    return absl::StrCat(words[0], "/", words[2]);
  }
  if (words.size() == 4 && words[1] == "out" && words[2] == "of" &&
      IsDecimal(words[0]) && IsDecimal(words[3])) {
    return absl::StrCat(words[0], "/", words[3]);
  }
  const auto part = Denominator(words.back());
  if (!part) return {};
  words.pop_back();
  if (words.empty()) {
    return *part == 2 ? absl::StrCat(sign, "1/2") : std::string();
  }
  // "two and one half", "two and half", "three quarters"
  for (size_t i = words.size(); i-- > 1;) {
    if (words[i] != "and") continue;
    const WordList before(words.begin(),
                          words.begin() + static_cast<std::ptrdiff_t>(i));
    const WordList behind(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                          words.end());
    auto whole = Whole(before);
    // "4 and a half"
    if (!whole && before.size() == 1 && before[0].size() < 10 &&
        before[0].find_first_not_of("0123456789") == std::string::npos) {
      whole = std::stoll(before[0]);
    }
    const auto top = behind.empty() ? std::optional<int64_t>(1) : Whole(behind);
    if (!whole || !top || *top >= *part) return {};
    return absl::StrCat(sign, "(", *whole, "+", *top, "/", *part, ")");
  }
  const auto top = Whole(words);
  if (!top || *top == 0) return {};
  return absl::StrCat(sign, *top, "/", *part);
}

std::string PlaceInWords(std::string_view folded) {
  if (folded.size() > 12) return {};
  const size_t end = folded.find_first_not_of("0123456789");
  if (end != 0 && end != std::string_view::npos) {
    const std::string_view ending = folded.substr(end);
    if (!IsPhrase(ending, Reading::kOrdinal)) return {};
    return "place " + std::string(folded.substr(0, end));
  }
  if (const auto place = NumberMeant(folded, Reading::kPlace)) {
    return absl::StrCat("place ", *place);
  }
  const auto part = folded.ends_with("s") || folded == "quarter"
                        ? std::nullopt
                        : Denominator(folded);
  return part && *part > 2 ? absl::StrCat("place ", *part) : std::string();
}

std::string OnePart(std::string_view text) {
  std::string lower = Lower(TrimBlanks(text));
  while (lower.ends_with(".") || lower.ends_with("!")) lower.pop_back();
  for (const std::string_view article : {"a ", "an "}) {
    if (!lower.starts_with(article)) continue;
    const auto part = NumberMeant(lower.substr(article.size()), Reading::kPart);
    return part ? "1/" + std::to_string(*part) : std::string();
  }
  return {};
}

std::string NumberWordIn(std::string_view folded) {
  if (folded.size() > 500) return {};
  const WordList words = absl::StrSplit(
      absl::string_view(folded.data(), folded.size()), ' ', absl::SkipEmpty());
  WordList run;
  std::string found;
  const auto end_run = [&run, &found] {
    if (run.empty()) return true;
    const auto value = Whole(run);
    run.clear();
    if (!value || !found.empty() || *value == 1) return false;
    found = absl::StrCat(*value);
    return true;
  };
  std::string lead;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (Small(word) || Tens(word) || Scale(word)) {
      // "at most seven"
      if (run.empty() && StanceBeside(lead, {}) != Stance::kStates) return {};
      run.push_back(word);
    } else {
      // "seven squared", "three and a half"
      const std::vector<std::string> next(
          words.begin() + static_cast<std::ptrdiff_t>(i),
          words.begin() +
              static_cast<std::ptrdiff_t>(std::min(i + 4, words.size())));
      if (!run.empty() &&
          StanceBeside({}, absl::StrJoin(next, " ")) != Stance::kStates) {
        return {};
      }
      if (!end_run()) return {};
    }
    absl::StrAppend(&lead, lead.empty() ? "" : " ", word);
  }
  return end_run() ? found : std::string();
}

namespace {

bool IsBound(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("-0123456789./") == std::string_view::npos;
}

// "all reals except 2 and x = 3" as "\\mathbb{R} \\setminus \\{2,3\\}"; else
// empty.
std::string ReadExcept(std::string_view folded) {
  const size_t length = StartsWith(folded, Reading::kAllExcept);
  if (length == 0) return {};
  std::string items;
  for (const absl::string_view word : absl::StrSplit(
           AbslView(folded.substr(length)), ' ', absl::SkipEmpty())) {
    std::string_view item(word.data(), word.size());
    if (item == "and" || item == "or" || item == "for" || item == "x" ||
        item == "=") {
      continue;
    }
    if (item.starts_with("x=")) item.remove_prefix(2);
    if (!IsBound(item)) return {};
    items += (items.empty() ? "" : ",") + std::string(item);
  }
  return items.empty() ? items : "\\mathbb{R} \\setminus \\{" + items + "\\}";
}

// "strictly between 2 and 5" as "2 < x < 5"; empty if the words leave open
// whether the ends are included.
std::string BetweenInWords(std::string_view folded) {
  const bool strict = folded.starts_with("strictly ");
  if (strict) folded.remove_prefix(9);
  constexpr std::string_view kBetween = "between ", kFrom = "from ";
  const auto take_end = [&folded](Reading reading) {
    const size_t length = EndsIn(folded, reading);
    if (length > 0) {
      folded = TrimBlanks(folded.substr(0, folded.size() - length));
    }
    return length > 0;
  };
  // "not including endpoints" ends in "including endpoints".
  const bool exclusive = take_end(Reading::kEndsExcluded);
  const bool inclusive = !exclusive && take_end(Reading::kEndsIncluded);
  const bool open = strict || exclusive;
  const bool ends = (inclusive || exclusive) && folded.starts_with(kFrom);
  if ((!ends && !folded.starts_with(kBetween)) || open == inclusive) {
    return {};
  }
  folded.remove_prefix(ends ? kFrom.size() : kBetween.size());
  const std::string_view mark = ends ? " to " : " and ";
  const size_t joint = folded.find(mark);
  if (joint == std::string_view::npos) return {};
  const std::string_view from = folded.substr(0, joint),
                         to = folded.substr(joint + mark.size());
  if (!IsBound(from) || !IsBound(to)) return {};
  const std::string sign = inclusive ? " \\le " : " < ";
  return absl::StrCat(std::string(from), sign, "x", sign, std::string(to));
}

// "greater than 2" as "x > 2"; empty if it is no relation to a bound.
std::string BoundInWords(std::string_view folded) {
  for (const Phrase& relation : Rows(Reading::kRelation)) {
    if (!BeginsWord(folded, relation.pattern)) continue;
    const std::string_view bound =
        TrimBlanks(folded.substr(relation.pattern.size()));
    if (!IsBound(bound)) return {};
    return absl::StrCat("x ", std::string(relation.meaning), " ",
                        std::string(bound));
  }
  return {};
}

// "less than 2 or greater than 5" as "x < 2 \\text{ or } x > 5"; else empty.
std::string TwoBoundsInWords(std::string_view folded) {
  for (const std::string_view joint : {" and ", " or "}) {
    for (size_t at = folded.find(joint); at != std::string_view::npos;
         at = folded.find(joint, at + 1)) {
      std::string_view behind = folded.substr(at + joint.size());
      if (behind.starts_with("x is ")) behind.remove_prefix(5);
      const std::string first = BoundInWords(folded.substr(0, at)),
                        second = BoundInWords(behind);
      if (first.empty() || second.empty()) continue;
      return absl::StrCat(first, " \\text{", std::string(joint), "} ", second);
    }
  }
  return {};
}

// "closed interval from -1 to 1" as "[-1, 1]"; else empty.
std::string IntervalInWords(std::string_view folded) {
  for (const Phrase& words : Rows(Reading::kIntervalWords)) {
    if (!folded.starts_with(words.pattern)) continue;
    folded.remove_prefix(words.pattern.size());
    size_t joint = folded.find(" to "), length = 4;
    if (joint == std::string_view::npos) {
      joint = folded.find(" and ");
      length = 5;
    }
    if (joint == std::string_view::npos) return {};
    const std::string_view from = folded.substr(0, joint),
                           to = folded.substr(joint + length);
    if (!IsBound(from) || !IsBound(to)) return {};
    const std::string brackets(words.meaning);
    return absl::StrCat(brackets.substr(0, 1), std::string(from), ", ",
                        std::string(to), brackets.substr(1));
  }
  return {};
}

}  // namespace

std::string FormulaInWords(std::string_view folded) {
  if (folded.size() > 60) return {};
  std::string out;
  bool sign = false, value = false;  // any sign; a value in front
  while (!folded.empty()) {
    bool found = false;
    for (const Phrase& word : Rows(Reading::kFormulaWord)) {
      if (!value || !BeginsWord(folded, word.pattern)) continue;
      folded = TrimBlanks(folded.substr(word.pattern.size()));
      out += word.meaning;
      found = sign = true;
      value = word.meaning.starts_with("^") && word.meaning.size() > 1;
      break;
    }
    if (found) continue;
    if (value) return {};
    const std::string_view word = folded.substr(0, folded.find(' '));
    for (const Phrase& root : Rows(Reading::kRootOf)) {
      if (found || !BeginsWord(folded, root.pattern)) continue;
      folded = TrimBlanks(folded.substr(root.pattern.size()));
      const std::string_view of = folded.substr(0, folded.find(' '));
      if (!IsDecimal(of)) return {};
      out += absl::StrCat(std::string(root.meaning), "{", std::string(of), "}");
      folded = TrimBlanks(folded.substr(of.size()));
      found = true;
    }
    value = true;
    if (found) continue;
    const auto number = Small(word);
    const bool letter = word.size() == 1 && Letter(word[0]);
    if (number) {
      out += std::to_string(*number);
    } else if (IsDecimal(word) || letter || word == "pi") {
      out += word == "pi" ? "\\pi" : std::string(word);
    } else {
      return {};
    }
    folded = TrimBlanks(folded.substr(word.size()));
  }
  return sign && value ? out : std::string();
}

std::string ValuesInWords(std::string_view folded) {
  if (folded.size() > 60) return {};
  const WordList words = absl::StrSplit(
      absl::string_view(folded.data(), folded.size()), ' ', absl::SkipEmpty());
  std::string out;
  for (size_t i = 0; i + 2 < words.size(); i += 4) {
    const bool joint = i + 3 == words.size() || words[i + 3] == "and";
    const bool is = words[i + 1] == "is" || words[i + 1] == "equals";
    if (words[i].size() != 1 || !Letter(words[i][0]) || !is || !joint ||
        !IsBound(words[i + 2])) {
      return {};
    }
    absl::StrAppend(&out, out.empty() ? "" : ", ", words[i], "=", words[i + 2]);
  }
  return words.size() % 4 == 3 && words.size() > 3 ? out : std::string();
}

std::string RangeInWords(std::string_view folded) {
  if (std::string interval = IntervalInWords(folded); !interval.empty()) {
    return interval;
  }
  if (folded.size() > 200) return {};
  if (std::string except = ReadExcept(folded); !except.empty()) return except;
  const auto skip = [&folded](std::string_view word) {
    if (!folded.starts_with(word)) return false;
    const std::string_view rest = folded.substr(word.size());
    if (!rest.empty() && rest[0] != ' ') return false;
    folded = rest.substr(rest.empty() ? 0 : 1);
    return true;
  };
  skip("set of");
  const bool all = skip("all") || skip("any") || skip("every");
  // "between 2 and 5, inclusive"
  if (const std::string between = BetweenInWords(folded); !between.empty()) {
    return between;
  }
  std::string sign;
  for (const Phrase& kind : Rows(Reading::kSign)) {
    if (!skip(kind.pattern)) continue;
    sign = kind.meaning;
    break;
  }
  const auto skip_any = [&skip](Reading reading) {
    const auto& phrases = Phrases(reading);
    return std::any_of(phrases.begin(), phrases.end(), skip);
  };
  const bool numbers =
      skip_any(Reading::kReals) ||
      (all && (skip("numbers") || skip("values") || skip("number")));
  if (numbers && folded.empty()) return sign;
  if (!sign.empty()) return {};
  const bool named = skip("real x") || skip("x");
  if (!numbers && !named) return {};
  if (!skip_any(Reading::kThatAre)) {
    if (skip("such that") && !skip("x")) return {};
    skip_any(Reading::kIsIn);
  }
  if (const std::string between = BetweenInWords(folded); !between.empty()) {
    return between;
  }
  if (const std::string both = TwoBoundsInWords(folded); !both.empty()) {
    return both;
  }
  for (const Phrase& relation : Rows(Reading::kRelation)) {
    if (!skip(relation.pattern)) continue;
    if (folded.find_first_of("0123456789") == std::string_view::npos ||
        folded.find(' ') != std::string_view::npos) {
      return {};
    }
    return absl::StrCat("x ", std::string(relation.meaning), " ",
                        std::string(folded));
  }
  // "3 or more"
  for (const Phrase& relation : Rows(Reading::kRelationBehind)) {
    if (!folded.ends_with(relation.pattern)) continue;
    const std::string_view bound =
        TrimBlanks(folded.substr(0, folded.size() - relation.pattern.size()));
    if (!IsBound(bound)) return {};
    return absl::StrCat("x ", std::string(relation.meaning), " ",
                        std::string(bound));
  }
  return {};
}

namespace {

// "seventy-seven"
constexpr size_t kLongestNumeral = 16;

// "Twenty-five" as "twenty five".
std::string WithBlanks(std::string_view word) {
  std::string out = Lower(word);
  std::replace(out.begin(), out.end(), '-', ' ');
  return out;
}

// "(5+1/2)" as "11/2"; other numbers unchanged.
std::string OneFraction(const std::string& number) {
  long long whole = 0, top = 0, part = 0;
  if (std::sscanf(number.c_str(), "(%lld+%lld/%lld)", &whole, &top, &part) !=
          3 ||
      whole > 1000000 || part > 1000000) {
    return number;
  }
  return std::to_string(whole * part + top) + "/" + std::to_string(part);
}

// The longest multi-word numeral that `text` begins with, "two thirds" of "two
// thirds of it": its length, and its digits.
size_t LongNumeral(std::string_view text, std::string* digits) {
  constexpr int kMostWords = 6;
  size_t best = 0, end = 0;
  for (int words = 1; words <= kMostWords && end < text.size(); ++words) {
    const size_t start = end;
    while (end < text.size() && (Letter(text[end]) || text[end] == '-')) ++end;
    if (end == start || end - start > kLongestNumeral) break;
    const bool hyphen = text.substr(0, end).find('-') != text.npos;
    if (words > 1 || hyphen) {
      const std::string folded = FoldWords(WithBlanks(text.substr(0, end)));
      const std::string number = OneFraction(NumberInWords(folded));
      // "half the circumference" is one word and an article.
      const bool several = folded.find(' ') != std::string::npos ||
                           text.starts_with("a ") || text.starts_with("A ");
      if (several && !number.empty() &&
          number.find_first_not_of("0123456789/") == std::string::npos) {
        best = end;
        *digits = number;
      }
    }
    if (end >= text.size() || text[end] != ' ') break;
    ++end;
  }
  return best;
}

}  // namespace

std::string WithPartInDigits(std::string_view text) {
  std::string part;
  size_t length = LongNumeral(text, &part);
  std::string_view rest = text.substr(length);
  if (length == 0 && (text.starts_with("half ") || text.starts_with("Half "))) {
    rest = text.substr(4);
    const bool whole = rest.starts_with(" of ") || rest.starts_with(" a ") ||
                       rest.starts_with(" an ");
    if (!whole) return {};
    part = "1/2";
  }
  if (part.find('/') == part.npos || !rest.starts_with(" ")) return {};
  // "two thirds of a cup", "half an hour", "three and a half cups"
  for (const std::string_view article : {" of an ", " of a ", " an ", " a "}) {
    if (!rest.starts_with(article)) continue;
    rest.remove_prefix(article.size() - 1);
    break;
  }
  // "two thirds of twelve" is another number.
  if (WithDigits(rest) != rest ||
      std::any_of(rest.begin(), rest.end(), Digit)) {
    return {};
  }
  return part + std::string(rest);
}

std::string WithDigits(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    std::string several;
    const bool begins = at == 0 || !Letter(text[at - 1]);
    // "a third of it", but neither "a hundred" nor "a half".
    const std::string_view rest = text.substr(at);
    const bool article = rest.starts_with("a ") || rest.starts_with("A ");
    if (const size_t length =
            begins && Letter(text[at]) ? LongNumeral(rest, &several) : 0;
        length > 0 && (!article || (rest.substr(length).starts_with(" of ") &&
                                    several.find('/') != std::string::npos))) {
      out += several;
      at += length;
      continue;
    }
    size_t end = at;
    while (end < text.size() && (Letter(text[end]) || text[end] == '-')) ++end;
    const std::string_view word = text.substr(at, end - at);
    const std::string number = word.size() > 2 && word.size() <= kLongestNumeral
                                   ? NumberInWords(WithBlanks(word))
                                   : std::string();
    const bool digits = !number.empty() && number != "1" &&
                        std::all_of(number.begin(), number.end(), Digit);
    out += digits ? number : std::string(word);
    at = end;
    if (at < text.size()) out += text[at++];
  }
  return out;
}

std::string WithFirstInDigits(std::string_view text) {
  constexpr size_t kShort = 60;
  constexpr std::string_view kOr = ", or ";
  const size_t at = text.find(kOr);
  if (text.size() > kShort || at == std::string_view::npos ||
      HasDigits(text.substr(0, at)) || !HasDigits(text.substr(at))) {
    return {};
  }
  const std::string words = FoldWords(text.substr(0, at));
  std::string number = NumberInWords(words);
  // "a quarter", without its article
  if (number.empty()) number = NumberInWords("one " + words);
  if (number.empty()) return {};
  return number + std::string(text.substr(at));
}

}  // namespace espalier
