#include "datasets/answers/find/stated_number.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "datasets/answers/find/counted_noun.h"
#include "datasets/answers/find/unit_in_words.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// In a sentence without a known verb: fewer are a remark.
constexpr int kFewestWords = 4;
// Limit on how often the preceding number is tried instead.
constexpr int kMostBefore = 3;

StatedNumber Find(std::string_view text, bool introduced, int before);

// Whether the signs around a number make it part of a formula, out of which no
// number is read: "10^{2}", "5!", "2\u221a3", "x + 5".
bool InFormula(std::string_view text, const NumberPlace& place) {
  const std::string_view behind = text.substr(place.end);
  const char next = behind.empty() ? ' ' : behind[0];
  const auto digit = [text](size_t at) {
    return at < text.size() && Digit(text[at]);
  };
  // "the 8th prime", "an 8-digit number"
  for (const std::string_view end : Phrases(Reading::kOrdinal)) {
    if (behind.starts_with(end) && (behind.size() < 3 || !Letter(behind[2]))) {
      return true;
    }
  }
  if (next == '-' && behind.size() > 1 && Letter(behind[1])) return true;
  // "(0,1]": the ends of an interval.
  const size_t comma = place.text.find(',');
  if (comma != kNowhere && place.start > 0 &&
      std::string_view("([{").find(text[place.start - 1]) != kNowhere &&
      comma + 4 != place.text.size()) {
    return true;
  }
  // "5:30", "3-5", "3\u20135"
  if (next == ':' && digit(place.end + 1)) return true;
  if (place.start >= 2 && digit(place.start - 2) &&
      (text[place.start - 1] == ':' || text[place.start - 1] == '-')) {
    return true;
  }
  if (place.start >= 4 && digit(place.start - 4) &&
      text.substr(0, place.start).ends_with("\u2013")) {
    return true;
  }
  // "**48**" is emphasised, "5**2" and "5*x" are formulas.
  const size_t stars = std::min(behind.find_first_not_of('*'), behind.size());
  const bool emphasis =
      stars > 0 && (stars == behind.size() || Blank(behind[stars]) ||
                    std::string_view(".,!;:)").find(behind[stars]) != kNowhere);
  const bool product = next == '*' && !emphasis;
  if (next == '^' || next == '(' || product) return true;
  // "12+", "12=", "12...", "12_x"
  const bool joint = next == '+' || next == '=' ||
                     (next == '-' && (behind.size() < 2 || Blank(behind[1]))) ||
                     (next == '_' && behind.size() > 1 &&
                      (Letter(behind[1]) || Digit(behind[1])));
  if (joint || behind.starts_with("...") || behind.starts_with("\u2026")) {
    return true;
  }
  // A combining sign over the digit.
  if (behind.starts_with("\xcc") || behind.starts_with("\xcd")) return true;
  if (next == '!' && behind.size() > 2 && behind[1] == ' ' &&
      std::islower(static_cast<unsigned char>(behind[2])) != 0) {
    return true;
  }
  // "5x" and "3pi" are not 5 and 3; "5cm" and "5m\u00b2" are quantities.
  size_t end = 0;
  while (end < behind.size() && Letter(behind[end])) ++end;
  const std::string_view rest = behind.substr(end);
  const bool power = rest.starts_with("\u00b2") || rest.starts_with("\u00b3");
  if (end == 1 && !power) return true;
  if (end > 1 && end < 4 && !IsUnitWord(behind.substr(0, end)) &&
      !IsPhrase(Lower(behind.substr(0, end)), Reading::kFunction)) {
    return true;
  }
  for (const std::string_view sign : {"\u03c0", "\u221a", "\u00b2", "\u00b3"}) {
    if (behind.starts_with(sign)) return true;
  }
  std::string_view lead = text.substr(0, place.start);
  if (lead.ends_with("\u221a")) return true;
  while (!lead.empty() && (lead.back() == ' ' || lead.back() == '$')) {
    lead.remove_suffix(1);
  }
  for (const std::string_view sign :
       {"\u00d7", "\u221a", "\u00b1", "\u2260", "\u2264", "\u2265", "<",
        "!=", ">=", "<="}) {
    if (lead.ends_with(sign)) return true;
  }
  if (lead.ends_with(">") && !behind.starts_with("<")) return true;
  if (lead.empty() ||
      std::string_view("+*/^{_").find(lead.back()) == kNowhere) {
    return false;
  }
  return !lead.ends_with("**") && !lead.ends_with("__");
}

int CountWords(std::string_view text) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool letter = Letter(c) || static_cast<uint8_t>(c) >= 0x80;
    words += letter && !inside ? 1 : 0;
    inside = letter || c == '\'';
  }
  return words;
}

// Whether a clause behind `at` concludes with a number: "She has 8 left | after
// giving 4 away, so she had 12".
bool ConcludedBehind(std::string_view lower, size_t at) {
  for (const std::string_view joint : Phrases(Reading::kConcludesBehind)) {
    const size_t place = lower.rfind(joint);
    if (place != kNowhere && place >= at &&
        LastNumberPlace(lower.substr(place))) {
      return true;
    }
  }
  return false;
}

// Start of a clause behind a number that only says when or why: "She has 8 left
// | after giving 4 away"; the size if there is none.
size_t MainPart(std::string_view lower) {
  size_t end = lower.size();
  for (const std::string_view word : Phrases(Reading::kWhenOrWhy)) {
    for (size_t at = lower.find(word); at != kNowhere;
         at = lower.find(word, at + 1)) {
      if (at >= end) break;
      const bool whole = at > 0 && lower[at - 1] == ' ' &&
                         at + word.size() < lower.size() &&
                         lower[at + word.size()] == ' ';
      // "4, but after mending it 5"
      const std::string_view front = lower.substr(0, at);
      if (front.ends_with(" but ")) continue;
      if (whole && LastNumberPlace(front) && !ConcludedBehind(lower, at)) {
        end = at;
      }
    }
  }
  return end;
}

// Start of a clause that says more about what was counted: "has 9 more than
// Tim, | who has 8", "144 tiles, | which cost $2"; the size if there is none.
size_t RelativeStart(std::string_view lower) {
  for (const std::string_view pronoun : Phrases(Reading::kOfCounted)) {
    const size_t at = lower.find(pronoun);
    if (at == kNowhere || !LastNumberPlace(lower.substr(0, at)) ||
        ConcludedBehind(lower, at)) {
      continue;
    }
    // "at t = 3, where the height is 144"
    if (ConditionStart(lower.substr(0, at)) < at) continue;
    const std::string_view rest = lower.substr(at + pronoun.size());
    // ", which is 3 fewer than"
    const bool compares =
        rest.starts_with("is ") && Mentions(rest, Reading::kCompared);
    if (pronoun == ", which " && !compares &&
        BeginsIn(rest, Reading::kDescribes) == 0) {
      continue;
    }
    return at;
  }
  return lower.size();
}

// The value of "7/20", "1,234.5" and "35%"; NaN for other numbers.
double ValueOf(std::string_view number) {
  std::string digits(number);
  std::erase(digits, ',');
  const bool percent = digits.ends_with("%");
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (*end == '/') value /= std::strtod(end + 1, &end);
  if (percent && *end == '%') return value / 100;
  return *end == '\0' ? value : std::nan("");
}

// "0.5 (or 50%)": without the bracketed restatement that contains the number at
// `start`; else the size.
size_t WithoutBrackets(std::string_view text, size_t start) {
  const std::string_view lead = text.substr(0, start);
  const size_t open = lead.rfind('(');
  if (open == kNowhere || open == 0 || lead.find(')', open) != kNowhere ||
      !Blank(text[open - 1])) {
    return text.size();
  }
  const auto place = LastNumberPlace(lead.substr(0, open));
  if (!place) return text.size();
  const std::string_view between =
      TrimBlanks(lead.substr(place->end, open - place->end));
  const bool unit = std::all_of(between.begin(), between.end(), [](char c) {
    return Letter(c) || c == '%' || c == '*' || c == '$' || c == ' ';
  });
  // "12 (or 13)", "12 (or maybe 13)" name another number.
  const std::string words = PlainLower(lead.substr(open + 1));
  const auto inside = LastNumberPlace(text.substr(0, text.find(')', open)));
  const bool another =
      Mentions(words, Reading::kMaybe) ||
      (words.starts_with("or ") && inside && inside->start >= open &&
       !(std::abs(ValueOf(place->text) - ValueOf(inside->text)) <=
         0.01 * std::abs(ValueOf(place->text))));
  return unit && !another && std::count(between.begin(), between.end(), ' ') < 2
             ? open
             : text.size();
}

// Only a unit and marks that end a bracket and a sentence.
bool OnlyMarks(std::string_view text) {
  const size_t close = text.find(')');
  if (close == kNowhere) return false;
  const std::string_view inside = text.substr(0, close);
  const std::string_view rest = text.substr(close + 1);
  return std::none_of(inside.begin(), inside.end(), Digit) &&
         rest.find_first_not_of(" .!*_\n") == kNowhere;
}

// "thirty six (36": start of the words for the same number; the size if there
// are none.
size_t SameInWords(std::string_view lead, std::string_view number) {
  if (!lead.ends_with("(")) return lead.size();
  const std::string_view words = TrimBlanks(lead.substr(0, lead.size() - 1));
  size_t start = words.size();
  for (int count = 0; count < 6 && start > 0; ++count) {
    const size_t blank = words.rfind(' ', start - 1);
    start = blank == kNowhere ? 0 : blank;
    if (NumberInWords(FoldWords(words.substr(start))) == number) return start;
  }
  return lead.size();
}

// "will cost Maria", "leaves her": the words without the name or pronoun
// behind a verb that gives.
std::string WithoutReceiver(std::string_view lead) {
  // "leaves her with"
  if (lead.ends_with(" with")) {
    const std::string_view given = lead.substr(0, lead.size() - 5);
    const std::string front = WithoutReceiver(given);
    return front.size() < given.size() ? front : std::string(lead);
  }
  const size_t blank = lead.rfind(' ');
  if (blank == kNowhere || blank + 1 >= lead.size()) return std::string(lead);
  const std::string_view word = lead.substr(blank + 1);
  const bool name = word[0] >= 'A' && word[0] <= 'Z' &&
                    std::all_of(word.begin(), word.end(), Letter);
  const std::string front = PlainLower(TrimBlanks(lead.substr(0, blank)));
  const bool receiver = name || IsPhrase(Lower(word), Reading::kReceiver);
  return receiver && EndsIn(front, Reading::kGives) > 0 ? front
                                                        : std::string(lead);
}

// "5, not 7": the number in front of the denial may be the answer.
StatedNumber DeniedNumber(std::string_view lead) {
  if (!Lower(lead).ends_with("not")) return {};
  const std::string_view before = lead.substr(0, lead.size() - 3);
  const auto place = LastNumberPlace(before);
  if (!place || CountWords(before) > 0) return {};
  return {place->text, Trust::kDoubtful, false, {}};
}

// How far behind a number its contrast begins: "12 apples, not 13".
constexpr size_t kNearContrast = 30;

// Whether a number behind this is a computed result: "84 - 63 =".
bool IsResult(std::string_view lead) {
  constexpr size_t kNearby = 40;
  lead = WithoutMarks(lead);
  if (!lead.ends_with("=")) return false;
  lead.remove_suffix(1);
  lead = lead.substr(lead.size() - std::min(lead.size(), kNearby));
  const auto place = LastNumberPlace(lead);
  if (!place) return false;
  const std::string_view before = lead.substr(0, place->start);
  const std::string_view both = lead.substr(0, place->end);
  return both.find_first_of("+-*/%") != kNowhere ||
         before.find(" x ") != kNowhere || before.find("\u00d7") != kNowhere ||
         before.find("\u00f7") != kNowhere ||
         before.find("\u2013") != kNowhere || before.find("\u2212") != kNowhere;
}

// "will cost 3 x $5 = $15 | for 3 books": the last computed number of a
// sentence, if those behind it only explain. None if it is the last number.
std::optional<NumberPlace> WorkedOut(std::string_view sentence) {
  constexpr int kMostBehind = 6;
  auto place = LastNumberPlace(sentence);
  for (int behind = 0; place && behind < kMostBehind; ++behind) {
    const std::string_view lead = sentence.substr(0, place->start);
    if (IsResult(lead)) {
      const std::string after = PlainLower(sentence.substr(place->end)) + " ";
      const bool goes_on = after.find('=') != kNowhere ||
                           after.find(';') != kNowhere ||
                           Mentions(after, Reading::kGoesOn);
      if (behind == 0 || goes_on || InFormula(sentence, *place)) {
        return std::nullopt;
      }
      return place;
    }
    const std::string words = PlainLower(WithoutMarks(lead));
    const size_t verb = EndsIn(words, Reading::kStates);
    const std::string_view front =
        TrimBlanks(std::string_view(words).substr(0, words.size() - verb));
    if (verb > 0 && !front.ends_with(" to")) return std::nullopt;
    place = LastNumberPlace(lead);
  }
  return std::nullopt;
}

// The numbers that a list holds, "2, 3, 5 and 7"; else none.
std::vector<std::string_view> ItemsOf(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view part = TrimBlanks(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (part.starts_with("and ")) part.remove_prefix(4);
    while (!part.empty()) {
      const size_t joint = std::min(part.find(" and "), part.size());
      std::string_view item = TrimBlanks(part.substr(0, joint));
      part.remove_prefix(std::min(joint + 5, part.size()));
      while (item.ends_with(".") || item.ends_with("!")) item.remove_suffix(1);
      if (item.empty() || !(Digit(item[0]) || item[0] == '-')) return {};
      out.push_back(item);
    }
  }
  return out;
}

// For a sentence. The list has a count if the words in front of its colon state
// it: "There are 4 primes: 2, 3, 5 and 7".
CountedList CountOfList(std::string_view sentence) {
  const size_t colon = sentence.rfind(": ");
  if (colon == kNowhere) return {};
  const auto items = ItemsOf(sentence.substr(colon + 1));
  if (items.size() < 2) return {};
  const std::string lead = WithDigits(sentence.substr(0, colon));
  CountedList out{.count = std::to_string(items.size()), .items = {}};
  for (const std::string_view item : items) {
    out.items += (out.items.empty() ? "" : ", ") + std::string(item);
  }
  for (size_t at = 0; (at = lead.find(out.count, at)) != kNowhere;
       at += out.count.size()) {
    const std::string front = PlainLower(TrimBlanks(lead.substr(0, at)));
    const size_t end = at + out.count.size();
    if (EndsIn(front, Reading::kStates) > 0 && end < lead.size() &&
        lead[end] == ' ' && StanceAt(lead, at, end) == Stance::kStates) {
      return out;
    }
  }
  return {};
}

// "7/20, or 0.35 as a decimal": whether `number` behind "or" is the preceding
// one, rounded to as many places.
bool SaysAgain(std::string_view lead, std::string_view number) {
  lead = TrimBlanks(lead);
  if (!lead.ends_with(" or")) return false;
  lead.remove_suffix(3);
  const auto place = LastNumberPlace(lead);
  if (!place || !TrimBlanks(lead.substr(place->end)).starts_with(",") ||
      TrimBlanks(lead.substr(place->end)).size() > 1) {
    return false;
  }
  const size_t point = number.find('.');
  const size_t places = point == kNowhere ? 0 : number.size() - point - 1;
  if (point == kNowhere || places > 15) return false;
  const double unit = std::pow(10.0, -static_cast<double>(places));
  const double far = std::abs(ValueOf(place->text) - ValueOf(number));
  return far <= 0.5000001 * unit;
}

// How the preceding number in the same clause relates to this one.
enum class Earlier { kNone, kLeadsOn, kBeside };

// "Twenty minus 5 is", "Bob has 4 and Alice has"
Earlier EarlierNumber(std::string_view lead) {
  const auto place = LastNumberPlace(lead);
  if (!place) return Earlier::kNone;
  const std::string between = " " + PlainLower(lead.substr(place->end)) + " ";
  const std::string before = PlainLower(lead.substr(0, place->start));
  const bool stated = EndsIn(WithoutMarks(before), Reading::kStates) > 0 ||
                      WithoutMarks(before).ends_with("=");
  // "is 2/5, i.e., 0.4"
  for (const std::string_view again : Phrases(Reading::kRestates)) {
    if (TrimBlanks(between).ends_with(TrimBlanks(again)) &&
        TrimBlanks(between).size() <= again.size()) {
      return Earlier::kLeadsOn;
    }
  }
  const bool joined = Mentions(between, Reading::kBeside) ||
                      between.find(", ") != std::string::npos;
  return stated && joined ? Earlier::kBeside : Earlier::kLeadsOn;
}

// "negative 5", "is minus 5": length in bytes of the words in front of a number
// that make it negative; 0 if none, and for "10 minus 5".
size_t NegativeWords(std::string_view lead, bool introduced) {
  for (const std::string_view sign : Phrases(Reading::kNegative)) {
    if (!lead.ends_with(sign)) continue;
    const std::string_view before =
        WithoutMarks(lead.substr(0, lead.size() - sign.size()));
    // "10 minus 5", but "dropped to negative 5".
    const bool free = before.empty() ? introduced || sign == "minus"
                      : sign == "negative"
                          ? true
                          : EndsIn(before, Reading::kStates) > 0 ||
                                before.ends_with("=") || before.ends_with(":");
    if (free) return sign.size();
  }
  return 0;
}

// If a verb states it, the number in front of one behind "for", "in" or
// similar: that of "pays $64 for the".
std::optional<StatedNumber> StatedBefore(std::string_view lead, int before) {
  if (before >= kMostBefore) return std::nullopt;
  const auto place = LastNumberPlace(lead);
  if (!place) return std::nullopt;
  const std::string between = PlainLower(TrimBlanks(lead.substr(place->end)));
  // "The chance is 5 in 12."
  const std::string front = PlainLower(lead.substr(0, place->start));
  const bool chance = Holds(front, Reading::kChance);
  if (chance && between == "in") return std::nullopt;
  // "takes 3 h to cover the 150 km"
  const size_t to = (" " + between).find(" to ");
  const bool purpose =
      to != kNowhere && to + 3 < between.size() && Letter(between[to + 3]) &&
      !std::string_view(between).substr(to + 3).starts_with("the ");
  // "each get 5 of the 20 apples"
  if ((!purpose && !Mentions(between, Reading::kExplains) &&
       !IsPhrase(WithoutMarks(between), Reading::kOutOf)) ||
      Mentions(between, Reading::kBeside) ||
      between.find(',') != std::string::npos) {
    return std::nullopt;
  }
  StatedNumber first = Find(lead.substr(0, place->end), false, before + 1);
  if (first.trust != Trust::kStated || !first.by_verb) return std::nullopt;
  first.unit = UnitInWords(lead.substr(place->end));
  return first;
}

// A number in its sentence, and the words around it.
struct InSentence {
  std::string_view text;
  size_t start;       // start of the sentence in `text`
  NumberPlace place;  // in `main`
  bool introduced, result = false;
  // The sentence without parts that only say when or why.
  std::string_view main = {};
  std::string number = {};
  std::string_view lead = {}, behind = {};
  Stance stance = Stance::kStates, beside = Stance::kStates;

  bool Open() const {
    return stance == Stance::kOpen || beside == Stance::kOpen;
  }
};

// 1. Sets `main` to the sentence without parts that only say when or why. False
// if no usable number is left.
bool ReadMain(InSentence& of) {
  const NumberPlace& last = of.place;
  const std::string_view whole = of.text.substr(
      of.start, last.end - of.start + SentenceLength(of.text.substr(last.end)));
  of.result = IsResult(of.text.substr(of.start, last.start - of.start));
  of.main = whole;
  // "can skip 4 because 10 - 4 = 6"
  if (const size_t reason = PlainLower(whole).find(" because ");
      of.result && reason != kNowhere) {
    const auto before = LastNumberPlace(whole.substr(0, reason));
    if (before && before->text != last.text) {
      of.main = whole.substr(0, reason);
      of.result = false;
    }
  }
  if (!of.result) {
    of.main = of.main.substr(0, MainPart(PlainLower(of.main)));
    of.main = of.main.substr(0, RelativeStart(PlainLower(of.main)));
    if (const auto number = LastNumberPlace(of.main)) {
      of.main = of.main.substr(0, WithoutBrackets(of.main, number->start));
    }
  }
  auto place = LastNumberPlace(of.main);
  if (!place || InFormula(of.main, *place)) return false;
  of.place = *std::move(place);
  return true;
}

// 2. Interprets the words around the number. False for a doubled sign.
bool ReadAround(InSentence& of) {
  const std::string_view main = of.main;
  NumberPlace& place = of.place;
  of.lead = WithoutMarks(main.substr(0, place.start));
  of.behind = main.substr(place.end);
  of.number = place.text;
  if (const size_t larger =
          LargerPart(main, place.start, UnitInWords(of.behind));
      larger != kNowhere) {
    of.number = std::string(main.substr(larger, place.end - larger));
    std::erase(of.number, ',');
    place.start = larger;
    of.lead = WithoutMarks(main.substr(0, larger));
  }
  const std::string_view in_full = TrimBlanks(main.substr(0, place.start));
  if (const size_t same = SameInWords(in_full, of.number);
      same < in_full.size() && of.behind.starts_with(")")) {
    of.lead = WithoutMarks(in_full.substr(0, same));
  }
  if (const size_t sign = NegativeWords(PlainLower(of.lead), of.introduced)) {
    if (of.number.starts_with("-")) return false;
    of.number = "-" + of.number;
    of.lead = WithoutMarks(of.lead.substr(0, of.lead.size() - sign));
    of.introduced |= of.lead.empty();
  }
  if (const size_t below =
          StartsWith(PlainLower(of.behind), Reading::kBelowZero);
      below > 0 && Digit(of.number[0])) {
    of.number = "-" + of.number;
    of.behind.remove_prefix(below);
  }
  const size_t from = of.start + place.start, to = of.start + place.end;
  of.stance = of.result ? StanceOfResult(of.text, from, to)
                        : StanceAt(of.text, from, to);
  of.beside = of.result ? Stance::kStates : StanceBeside(of.lead, of.behind);
  return true;
}

// 3. Whether it is stated: behind a verb or a sign, ...
std::optional<StatedNumber> BehindVerb(const InSentence& of,
                                       std::string_view clause,
                                       Earlier earlier) {
  const std::string lower = PlainLower(WithoutReceiver(of.lead));
  const std::string tail(TrimBlanks(PlainLower(of.behind)));
  const bool tagged = lower.ends_with(">") && tail.starts_with("<");
  const std::string unit = of.main.substr(0, of.place.start).ends_with("$")
                               ? std::string()
                               : UnitInWords(of.behind);
  if (lower.ends_with("=") || lower.ends_with(":") || tagged) {
    return StatedNumber{
        of.number, of.Open() ? Trust::kDoubtful : Trust::kStated, true, unit};
  }
  // "36 red and 24 blue ones, 60 in all"
  std::string_view end = tail;
  while (end.ends_with(".") || end.ends_with("!")) end.remove_suffix(1);
  const size_t total = EndsIn(end, Reading::kInAll);
  if (total > 0 && CountWords(end.substr(0, end.size() - total)) < 3 &&
      end.find(',') == kNowhere && EndsIn(lower, Reading::kOutOf) == 0 &&
      !of.Open()) {
    return StatedNumber{of.number, Trust::kStated, true, unit};
  }
  const size_t states = EndsIn(lower, Reading::kStates);
  const std::string_view front =
      std::string_view(lower).substr(0, lower.size() - states);
  // "needs $36 to buy 4 books"; "has to pay 36" states it.
  if (states == 0 ||
      (earlier != Earlier::kNone && TrimBlanks(front).ends_with(" to"))) {
    return std::nullopt;
  }
  const bool by = lower.ends_with(" by") && earlier != Earlier::kNone;
  // "The chance that it is 5 is small."
  // "Among 15, 17 and 21, only 17 is prime."
  const std::string_view opening = TrimBlanks(front);
  const bool only =
      (opening.empty() || opening.ends_with(",") || opening.ends_with("so")) &&
      IsPhrase(std::string_view(lower).substr(front.size()), Reading::kOnly) &&
      !Mentions(tail, Reading::kRejects) && !Mentions(tail, Reading::kDenies);
  const bool goes_on = BeginsIn(tail, Reading::kAuxiliary) > 0 && !only;
  const bool sure = !of.Open() && earlier != Earlier::kBeside && !by &&
                    !goes_on && !OfUnknown(PlainLower(WithoutMarks(clause)));
  return StatedNumber{of.number, sure ? Trust::kStated : Trust::kDoubtful, true,
                      unit};
}

// ... or in a whole sentence of which it is the only number.
StatedNumber OfWholeSentence(const InSentence& of, std::string_view clause,
                             Earlier earlier, int before_it) {
  const int before = CountWords(PlainLower(WithoutReceiver(of.lead)));
  const int after = CountWords(of.behind);
  // "Tom ran 17 miles."
  const bool full = before + after >= kFewestWords || (before > 1 && after > 0);
  const bool remark = !full && !(of.introduced && before == 0);
  // "takes five days to cover 20 km"
  const std::string front =
      earlier == Earlier::kNone ? WithDigits(clause) : std::string();
  const bool in_words = LastNumberPlace(front).has_value();
  const bool several = earlier != Earlier::kNone;
  if (full && !of.Open()) {
    // "pays $64 for the 16 glasses"
    const std::string_view lead =
        in_words ? std::string_view(front)
                 : of.text.substr(0, of.start + of.place.start);
    if (in_words || several) {
      if (auto first = StatedBefore(lead, before_it)) return *first;
    }
  }
  // "The 2 of 5"
  if ((before + after == 0 && !of.introduced) || (remark && several)) return {};
  // "12 red apples are left"
  const bool left = before == 0 && OnlyLeft(of.behind);
  const bool sure = (!remark || left) && !several && !in_words && !of.Open();
  const std::string unit = of.main.substr(0, of.place.start).ends_with("$")
                               ? std::string()
                               : UnitInWords(of.behind);
  return {of.number, sure ? Trust::kStated : Trust::kDoubtful, false, unit};
}

// "It's 12, not | 13 as one might think.": where the contrast begins with which
// the last number is denied, if a number comes before it in the sentence; else
// npos.
size_t ContrastStart(std::string_view text, size_t number) {
  const std::string_view lead = text.substr(0, number);
  const std::string lower =
      PlainLower(lead.substr(0, lead.find_last_not_of(" $*") + 1)) + " ";
  const size_t joint = EndsWith(lower, Reading::kInsteadOf);
  if (joint == 0 || !lower.ends_with("not ")) return kNowhere;
  const size_t at = lower.size() - joint;
  const auto before = LastNumberPlace(lead.substr(0, at));
  const bool same =
      before && SentenceStart(lead) <= before->start &&
      before->end + kNearContrast >= at &&
      StanceAt(text, before->start, before->end) == Stance::kStates;
  return same ? at : kNowhere;
}

// "There are not 4 but | 5 sides." without "not 4 but"; empty for other texts.
std::string WithoutNotBut(std::string_view text, size_t number) {
  constexpr std::string_view kBut = " but", kNot = " not";
  std::string_view lead = WithoutMarks(text.substr(0, number));
  if (!lead.ends_with(kBut)) return {};
  lead = WithoutMarks(lead.substr(0, lead.size() - kBut.size()));
  if (lead.ends_with(",")) lead = WithoutMarks(lead.substr(0, lead.size() - 1));
  const auto denied = LastNumberPlace(lead);
  if (!denied || denied->end < lead.size()) return {};
  lead = WithoutMarks(lead.substr(0, denied->start));
  if (!lead.ends_with(kNot)) return {};
  lead.remove_suffix(kNot.size());
  return std::string(lead) + " " + std::string(text.substr(number));
}

StatedNumber Find(std::string_view text, bool introduced, int before_it) {
  auto place = LastNumberPlace(text);
  if (!place) return {};
  // "There are not 4 but 5 sides."
  if (const std::string positive = WithoutNotBut(text, place->start);
      !positive.empty()) {
    return Find(positive, introduced, before_it);
  }
  if (const size_t contrast = ContrastStart(text, place->start);
      contrast != kNowhere) {
    const StatedNumber other =
        Find(text.substr(0, contrast), introduced, before_it);
    if (other.by_verb) return other;
  }
  // "cost $36 (4 \u00d7 $9)"
  if (const size_t front = WithoutBrackets(text, place->start);
      front < text.size() && OnlyMarks(text.substr(place->end))) {
    text = text.substr(0, front);
    place = LastNumberPlace(text);
    if (!place) return {};
  }
  const size_t start = SentenceStart(text.substr(0, place->start));
  const std::string_view until = text.substr(start, place->end - start);
  if (const size_t condition = ConditionStart(until);
      condition < until.size()) {
    return Find(text.substr(0, start + condition), introduced, before_it);
  }
  if (const auto worked = WorkedOut(until)) {
    const size_t from = start + worked->start, to = start + worked->end;
    if (StanceOfResult(text, from, to) == Stance::kStates) {
      return {worked->text, Trust::kStated, true, UnitInWords(text.substr(to))};
    }
  }
  if (InFormula(text, *place)) return {};
  if (CountedList list = CountOfList(until); !list.count.empty()) {
    return {std::move(list.count), Trust::kStated, true, {}};
  }
  InSentence of{.text = text,
                .start = start,
                .place = *std::move(place),
                .introduced = introduced};
  if (!ReadMain(of) || !ReadAround(of)) return {};
  if (of.stance == Stance::kDenies) return DeniedNumber(of.lead);
  // This one restates the preceding number, which is used instead.
  if (SaysAgain(of.lead, of.number)) {
    return Find(of.lead.substr(0, of.lead.size() - 2), of.introduced,
                before_it);
  }
  if (of.beside == Stance::kDenies) return DeniedNumber(of.lead);
  const std::string_view all = of.main.substr(0, of.place.start);
  const std::string_view clause = all.substr(ClauseStart(PlainLower(all)));
  const Earlier earlier = EarlierNumber(clause);
  if (auto stated = BehindVerb(of, clause, earlier)) return *stated;
  return OfWholeSentence(of, clause, earlier, before_it);
}

}  // namespace

StatedNumber FindStatedNumber(std::string_view text, bool introduced) {
  return Find(text, introduced, 0);
}

CountedList FindCountedList(std::string_view text) {
  const auto place = LastNumberPlace(text);
  if (!place ||
      text.substr(place->end).find_first_not_of(" .!*_\n") != kNowhere) {
    return {};
  }
  const size_t start = SentenceStart(text.substr(0, place->start));
  return CountOfList(text.substr(start, place->end - start));
}

size_t ConditionStart(std::string_view sentence) {
  const size_t equal = sentence.find('=');
  if (sentence.size() > kLongestLook || equal == kNowhere)
    return sentence.size();
  const std::string lower = PlainLower(sentence.substr(0, equal));
  for (const std::string_view word : Phrases(Reading::kAtValue)) {
    const size_t at = lower.rfind(word);
    if (at == kNowhere) continue;
    // A condition names a single letter.
    const std::string_view name = TrimBlanks(
        WithoutMarks(std::string_view(lower).substr(at + word.size())));
    if (name.size() != 1 || !Letter(name[0])) continue;
    const StatedNumber number = FindStatedNumber(sentence.substr(0, at), false);
    if (number.trust == Trust::kStated && number.by_verb) return at;
  }
  return sentence.size();
}

StatedNumber StatedInWords(std::string_view text) {
  text = TrimBlanks(text);
  while (text.ends_with(".") || text.ends_with("!")) text.remove_suffix(1);
  const std::string_view last = text.substr(SentenceStart(text));
  const std::string digits = WithDigits(last);
  // "Spread over 10 shelves, each has nine": a numeral behind the digits.
  if (const auto place = LastNumberPlace(last)) {
    const size_t behind = last.size() - place->end;
    const auto later = LastNumberPlace(digits);
    if (!later || digits.size() - later->end >= behind) return {};
    const StatedNumber number = FindStatedNumber(digits, false);
    const bool stated = number.trust == Trust::kStated && number.by_verb &&
                        number.text == later->text;
    return stated ? number : StatedNumber();
  }
  const bool alone = last.size() == text.size();
  const StatedNumber number = FindStatedNumber(digits, false);
  // A single sentence with several numbers is left to the search for the only
  // one.
  if (alone) {
    const auto place = LastNumberPlace(digits);
    const bool several =
        place &&
        LastNumberPlace(std::string_view(digits).substr(0, place->start));
    if (!place || (several && !number.by_verb)) return {};
    return number.trust == Trust::kStated ? number : StatedNumber();
  }
  return number.trust == Trust::kStated && number.by_verb ? number
                                                          : StatedNumber();
}

}  // namespace espalier
