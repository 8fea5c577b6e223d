#include "datasets/answers/written_alike.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/find/related.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/plain_letters.h"
#include "datasets/answers/words/residue_class.h"
#include "datasets/answers/words/same_names.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

constexpr size_t kLongestAlikeGold = 300;
constexpr size_t kLongestAlike = 64000;

bool WordChar(char c) { return Letter(c) || Digit(c); }

// `text` with `from`, in lower case, replaced by `to` where it is whole words.
std::string Replaced(std::string_view text, std::string_view from,
                     std::string_view to) {
  const std::string lower = Lower(text);
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t next = lower.find(from, at);
    if (next == kNowhere) break;
    const size_t end = next + from.size();
    const bool word = (next == 0 || !WordChar(lower[next - 1])) &&
                      (end == lower.size() || !WordChar(lower[end]));
    absl::StrAppend(&out, AbslView(text.substr(at, next - at)),
                    AbslView(word ? to : text.substr(next, from.size())));
    at = end;
  }
  absl::StrAppend(&out, AbslView(text.substr(at)));
  return out;
}

// The whole number that gold is; empty if it is none.
std::string_view WholeNumber(std::string_view gold) {
  constexpr size_t kMostDigits = 6;
  gold = TrimBlanks(gold);
  const bool whole = !gold.empty() && gold.size() <= kMostDigits &&
                     std::all_of(gold.begin(), gold.end(), Digit) &&
                     (gold[0] != '0' || gold.size() == 1);
  return whole ? gold : std::string_view();
}

// "15 quarters" as "15 coins": a number of them, not a fraction. "15 quarters
// of a mile" stays.
std::string WithCoinsCounted(std::string_view number, std::string_view text) {
  std::string out(text);
  for (const Phrase& coin : Rows(Reading::kCoin)) {
    const std::string counted =
        absl::StrCat(AbslView(number), " ", AbslView(coin.pattern));
    if (text.find(counted + " of ") != kNowhere) continue;
    out = Replaced(out, counted,
                   absl::StrCat(AbslView(number), " ", AbslView(coin.meaning)));
  }
  return out;
}

// Words of numerals in front of a plural, "six buses", in digits where they
// are the number `wanted`.
std::string WithNumeralInDigits(std::string_view wanted,
                                std::string_view text) {
  constexpr size_t kLongestNumeral = 40;
  const auto numeral = [](std::string_view word) {
    return NumberMeant(word, Reading::kNumeral) ||
           NumberMeant(word, Reading::kTens) ||
           NumberMeant(word, Reading::kScale);
  };
  std::string out;
  std::string before;  // the word in front
  for (size_t at = 0; at < text.size();) {
    if (!Letter(text[at])) {
      if (text[at] != ' ') before.clear();
      out += text[at++];
      continue;
    }
    // The run of numerals, and the word behind it.
    size_t end = at, next = at;
    std::string word;
    while (next < text.size() && next - at < kLongestNumeral) {
      size_t stop = next;
      while (stop < text.size() && Letter(text[stop])) ++stop;
      word = Lower(text.substr(next, stop - next));
      if (!numeral(word)) break;
      end = stop;
      if (stop >= text.size() || (text[stop] != ' ' && text[stop] != '-')) {
        word.clear();
        break;
      }
      next = stop + 1;
    }
    if (end == at) {
      size_t stop = at;
      while (stop < text.size() && Letter(text[stop])) ++stop;
      before = Lower(text.substr(at, stop - at));
      out += text.substr(at, stop - at);
      at = stop;
      continue;
    }
    const bool counted =
        word.size() > 3 && word.ends_with("s") && !word.ends_with("ss");
    std::string said = Lower(text.substr(at, end - at));
    std::replace(said.begin(), said.end(), '-', ' ');
    const bool part = before == "and" || before == "in" || before == "point";
    if (counted && !part && end < text.size() && text[end] == ' ' &&
        NumberInWords(said) == wanted && wanted != "1") {
      out += wanted;
    } else {
      out += text.substr(at, end - at);
    }
    before = "numeral";
    at = end;
  }
  return out;
}

// The value of digits in a base up to 36; nothing if they are none of it.
std::optional<uint64_t> ValueIn(std::string_view digits, uint64_t base) {
  constexpr size_t kMostDigits = 24;
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const auto digit =
        static_cast<uint64_t>(Digit(c) ? c - '0' : upper - 'A' + 10);
    if (!WordChar(c) || digit >= base || value > (UINT64_MAX >> 6)) {
      return std::nullopt;
    }
    value = value * base + digit;
  }
  return value;
}

// "23_{10} = 10111_2", where both sides are one number, as "10111".
std::string WithRestatedBase(std::string_view digits, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto based = [&text](size_t& from, std::string_view& number) {
      const size_t start = from;
      while (from < text.size() && WordChar(text[from])) ++from;
      number = text.substr(start, from - start);
      uint64_t base = 0;
      const std::string_view rest = text.substr(from, 8);
      const bool brace = rest.starts_with("_{");
      if (rest.starts_with("_")) {
        from += brace ? 2 : 1;
        while (from < text.size() && Digit(text[from]) && base < 100) {
          base = 10 * base + static_cast<uint64_t>(text[from++] - '0');
        }
        if (brace && (from >= text.size() || text[from++] != '}')) base = 0;
      } else {
        constexpr std::string_view kBelow = "\u2080";
        while (from + 2 < text.size() && base < 100 &&
               text.substr(from, 2) == kBelow.substr(0, 2)) {
          const auto digit = static_cast<unsigned char>(text[from + 2]) - 0x80;
          if (digit < 0 || digit > 9) break;
          base = 10 * base + static_cast<uint64_t>(digit);
          from += 3;
        }
      }
      return base;
    };
    const bool begins = Digit(text[at]) && (at == 0 || !WordChar(text[at - 1]));
    size_t end = at;
    std::string_view left, right;
    if (begins && based(end, left) == 10) {
      while (end < text.size() && text[end] == ' ') ++end;
      if (end < text.size() && text[end] == '=') {
        ++end;
        while (end < text.size() && text[end] == ' ') ++end;
        const uint64_t base = based(end, right);
        const auto value = ValueIn(left, 10);
        if (right == digits && base > 1 && base <= 36 && base != 10 && value &&
            ValueIn(right, base) == value) {
          out += digits;
          at = end;
          continue;
        }
      }
    }
    out += text[at++];
  }
  return out;
}

// "**1** and **2**" as "**1 and 2**".
std::string WithListInOneMark(std::string_view text) {
  std::string out(text);
  for (const std::string_view joint :
       {"** and **", "** or **", "**, **", "**, and **", "** & **"}) {
    const std::string plain(joint.substr(2, joint.size() - 4));
    for (size_t at = out.find(joint); at != kNowhere;
         at = out.find(joint, at + 1)) {
      out.replace(at, joint.size(), plain);
    }
  }
  return out;
}

// "Denmark and Sweden": its two names; empty if it is no such pair.
std::pair<std::string_view, std::string_view> TwoNames(std::string_view gold) {
  constexpr size_t kShortest = 3;
  gold = TrimBlanks(gold);
  const size_t joint = gold.find(" and ");
  if (joint == kNowhere || gold.find(" and ", joint + 1) != kNowhere) return {};
  const std::string_view a = gold.substr(0, joint), b = gold.substr(joint + 5);
  const bool words = std::all_of(gold.begin(), gold.end(), [](char c) {
    return Letter(c) || c == ' ' || c == '-' || c == '\'';
  });
  return words && a.size() >= kShortest && b.size() >= kShortest
             ? std::pair(a, b)
             : std::pair<std::string_view, std::string_view>();
}

// Two names in the order of gold: "Sweden and Denmark" as "Denmark and
// Sweden".
std::string WithNamesInOrder(std::string_view gold, std::string_view text) {
  const auto [a, b] = TwoNames(gold);
  if (a.empty()) return std::string(text);
  return Replaced(text, Lower(absl::StrCat(AbslView(b), " and ", AbslView(a))),
                  absl::StrCat(AbslView(a), " and ", AbslView(b)));
}

// "Water is made of hydrogen and oxygen." as its two names, if gold is these
// and the sentence, the only one, ends in them.
std::string OnlyPairStated(std::string_view gold, std::string_view text) {
  constexpr size_t kLongestSentence = 200;
  if (TwoNames(gold).first.empty() || text.size() > kLongestSentence ||
      !SaysPlainly(text)) {
    return {};
  }
  std::string_view sentence = TrimBlanks(text);
  while (!sentence.empty() &&
         std::string_view(".!*").find(sentence.back()) != kNowhere) {
    sentence.remove_suffix(1);
  }
  // "(Malmo to Copenhagen)"
  if (sentence.ends_with(")")) {
    const size_t open = sentence.rfind(" (");
    if (open == kNowhere) return {};
    sentence = sentence.substr(0, open);
    while (sentence.ends_with("*")) sentence.remove_suffix(1);
  }
  // ", on 29 May 1953"
  if (const size_t on = sentence.rfind(" on ");
      on != kNowhere && IsWholeDate(sentence.substr(on + 4))) {
    sentence = sentence.substr(0, on);
    if (sentence.ends_with(",")) sentence.remove_suffix(1);
  }
  const std::string lower = Lower(sentence), pair = Lower(gold);
  if (!lower.ends_with(pair) || lower.size() == pair.size() ||
      LastSentenceStart(text) > 0) {
    return {};
  }
  std::string_view front =
      std::string_view(lower).substr(0, lower.size() - pair.size());
  while (!front.empty() && (front.back() == '*' || front.back() == ' ')) {
    front.remove_suffix(1);
  }
  for (const std::string_view article : {" the"}) {
    if (front.ends_with(article)) front.remove_suffix(article.size());
  }
  const bool leads = EndsIn(front, Reading::kLeadsToPair) > 0 &&
                     EndsIn(front, Reading::kRelatesTo) == 0;
  return leads && OnlyRelated(gold, text).empty() ? std::string(gold)
                                                  : std::string();
}

// "On May 14, 1987" as "May 14, 1987".
std::string_view WithoutOn(std::string_view text) {
  std::string_view rest = TrimBlanks(text);
  if (!rest.starts_with("On ") && !rest.starts_with("on ")) return text;
  rest.remove_prefix(3);
  return IsWholeDate(rest) ? rest : text;
}

// "...\n**Balanced equation:** 2H2 + O2 -> 2H2O" as its last line without the
// label, if that is the formula named `name`; else `text`.
std::string_view LabelledFormula(std::string_view name, std::string_view text) {
  constexpr std::string_view kMarks = "*`:#- .,";
  const auto bare = [&kMarks](std::string_view part) {
    part = TrimBlanks(part);
    while (!part.empty() && (kMarks.find(part.front()) != kNowhere)) {
      part = TrimBlanks(part.substr(1));
    }
    // Also emoji.
    while (!part.empty() && (kMarks.find(part.back()) != kNowhere ||
                             static_cast<unsigned char>(part.back()) >= 0x80)) {
      part = TrimBlanks(part.substr(0, part.size() - 1));
    }
    return part;
  };
  const std::string_view front = bare(text);
  if (!front.ends_with(name)) return text;
  // "Calcium carbonate has the formula CaCO3."
  const std::string sentence =
      Lower(front.substr(0, front.size() - name.size()));
  if (EndsIn(TrimBlanks(sentence), Reading::kHasFormula) > 0 &&
      LastSentenceStart(front) == 0 && SaysPlainly(front)) {
    return front.substr(front.size() - name.size());
  }
  std::string_view lead =
      TrimBlanks(front.substr(0, front.size() - name.size()));
  while (lead.ends_with("*")) lead.remove_suffix(1);
  lead = TrimBlanks(lead);
  if (!lead.ends_with(":")) return text;
  const size_t line = lead.rfind('\n');
  const std::string_view label =
      bare(lead.substr(line == kNowhere ? 0 : line + 1));
  return IsPhrase(Lower(label), Reading::kFormulaLabel)
             ? front.substr(front.size() - name.size())
             : text;
}

// "Sodium chloride (NaCl)" as the formula alone, named `name`.
std::string_view WithoutNameOfFormula(std::string_view name,
                                      std::string_view text) {
  constexpr size_t kLongestName = 40;
  std::string_view rest = TrimBlanks(text);
  if (rest.ends_with(".")) rest.remove_suffix(1);
  const std::string bracket = absl::StrCat(" (", AbslView(name), ")");
  if (!rest.ends_with(bracket)) return text;
  const std::string_view front = rest.substr(0, rest.size() - bracket.size());
  const bool words =
      front.size() <= kLongestName &&
      std::count(front.begin(), front.end(), ' ') < 3 &&
      std::all_of(front.begin(), front.end(),
                  [](char c) {
                    return Letter(c) || c == ' ' || c == '-' || c == '*';
                  }) &&
      SaysPlainly(front);
  return words ? rest.substr(front.size() + 2, name.size()) : text;
}

}  // namespace

std::vector<AlikePair> WrittenAlike(std::string_view gold,
                                    std::string_view answer) {
  gold = TrimBlanks(gold);
  answer = TrimBlanks(answer);
  if (gold.empty() || gold.size() > kLongestAlikeGold ||
      answer.size() > kLongestAlike) {
    return {};
  }
  AlikePair pair{WithPlainLetters(gold), WithPlainLetters(answer)};
  const auto both = [&pair](auto rewrite) {
    const std::string wanted = pair.gold;
    pair.gold = rewrite(wanted, pair.gold);
    pair.answer = rewrite(wanted, pair.answer);
  };
  for (const Reading words : {Reading::kOneWord, Reading::kAndAHalf}) {
    for (const Phrase& row : Rows(words)) {
      pair.gold = Replaced(pair.gold, row.pattern, row.meaning);
      pair.answer = Replaced(pair.answer, row.pattern, row.meaning);
    }
  }
  std::vector<AlikePair> out;
  if (IsWholeDate(pair.gold)) {
    const AlikePair read = pair;
    for (const DateOrder order :
         {DateOrder::kMonthFirst, DateOrder::kDayFirst}) {
      pair = read;
      pair.gold = WithDatesInWords(read.gold, order, &pair.open);
      pair.answer = WithDatesInWords(WithoutOn(read.answer), order, &pair.open);
      out.push_back(pair);
      if (!pair.open) break;
    }
  } else {
    both(WithShortNamesInFull);
    both(WithPersonAs);
    if (TwoNames(pair.gold).first.data() != nullptr) {
      const std::string names = pair.gold;
      const auto [a, b] = TwoNames(names);
      pair.answer = WithPersonAs(b, WithPersonAs(a, pair.answer));
    }
    const AlikePair plain = pair;
    both(WithFormulaNamed);
    if (pair.gold == kFormulaName) {
      // Without "Check: H: 4 = 4" at the end.
      const std::string_view front = WithoutChecks(plain.answer);
      if (front.size() < plain.answer.size()) {
        pair.answer = WithFormulaNamed(plain.gold, front);
      }
      pair.answer = WithoutNameOfFormula(pair.gold, pair.answer);
      pair.answer = LabelledFormula(pair.gold, pair.answer);
    }
    if (IsCongruence(pair.gold)) {
      pair.answer = Replaced(pair.answer, "is congruent to", "\u2261");
      pair.answer = Replaced(pair.answer, "modulo", "mod");
      pair.answer = WithCongruences(pair.answer);
    }
    if (const std::string number(WholeNumber(pair.gold)); !number.empty()) {
      pair.answer = WithCoinsCounted(number, pair.answer);
      pair.answer = WithNumeralInDigits(number, pair.answer);
    }
    if (std::all_of(pair.gold.begin(), pair.gold.end(), WordChar)) {
      pair.answer = WithRestatedBase(pair.gold, pair.answer);
    }
    if (pair.gold.find(',') != kNowhere ||
        pair.gold.find(" and ") != kNowhere) {
      pair.answer = WithListInOneMark(pair.answer);
      pair.answer = WithNamesInOrder(pair.gold, pair.answer);
    }
    if (std::string stated = OnlyPairStated(pair.gold, pair.answer);
        !stated.empty()) {
      pair.answer = std::move(stated);
    }
    out.push_back(pair);
  }
  std::erase_if(out, [&](const AlikePair& one) {
    return one.gold == gold && one.answer == answer;
  });
  return out;
}

}  // namespace espalier
