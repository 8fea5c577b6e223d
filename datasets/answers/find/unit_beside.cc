#include "datasets/answers/find/unit_beside.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

constexpr size_t kLongestNumber = 40;
constexpr size_t kLongestUnit = 60;

// "$5", if the sign opens no formula.
bool IsMoney(std::string_view text, size_t at, size_t end) {
  if (at == 0 || text[at - 1] != '$') return false;
  if (at > 1 && text[at - 2] == '\\') return true;
  const size_t line = text.substr(0, at).rfind('\n') + 1;
  const auto signs =
      std::count(text.begin() + static_cast<std::ptrdiff_t>(line),
                 text.begin() + static_cast<std::ptrdiff_t>(at), '$');
  const std::string_view rest = text.substr(end);
  return signs % 2 == 1 &&
         rest.substr(0, rest.find('\n')).find('$') == kNowhere;
}

std::string_view WithoutSigns(std::string_view text) {
  while (!text.empty()) {
    if (Blank(text[0]) ||
        std::string_view("$}*_)~").find(text[0]) != kNowhere) {
      text.remove_prefix(1);
    } else if (text.size() > 1 && text[0] == '\\' &&
               std::string_view(")],;: ").find(text[1]) != kNowhere) {
      text.remove_prefix(2);
    } else {
      break;
    }
  }
  return text;
}

// A word, or signs such as "m/s^2".
std::string_view FirstToken(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (Letter(text[end]) || static_cast<uint8_t>(text[end]) >= 0x80 ||
          (end > 0 && (Digit(text[end]) ||
                       std::string_view("/^-").find(text[end]) != kNowhere)))) {
    ++end;
  }
  while (end > 0 && std::string_view("/^-").find(text[end - 1]) != kNowhere)
    --end;
  return text.substr(0, end);
}

// "a three-month stay" as "a three month stay".
std::string WithoutUnitHyphens(std::string_view text) {
  constexpr size_t kShortest = 3;
  std::string out(text);
  for (size_t at = 1; at + 1 < out.size(); ++at) {
    if (out[at] != '-' || Blank(out[at - 1])) continue;
    const std::string_view word = FirstToken(text.substr(at + 1));
    if (word.size() >= kShortest &&
        std::all_of(word.begin(), word.end(), Letter) &&
        ReadUnit(" " + std::string(word)).known) {
      out[at] = ' ';
    }
  }
  return out;
}

// The unit behind a number of a text, or its percent sign; empty if none is
// known.
std::string UnitAt(std::string_view text, const NumberPlace& place) {
  if (place.text.ends_with("%")) return "%";
  // Also "2 million euros".
  const std::string_view whole = text.substr(place.start, place.text.size());
  const std::string_view number =
      whole == place.text ? whole
                          : text.substr(place.start, place.end - place.start);
  std::string unit =
      UnitBeside(text.substr(0, text.find(number, place.end)), number);
  // "7 nights" and nothing else
  const std::string_view noun = TrimBlanks(text.substr(place.end));
  const bool counts = unit.empty() && place.start == 0 && noun.size() >= 4 &&
                      noun.ends_with("s") && text[place.end] == ' ' &&
                      std::all_of(noun.begin(), noun.end(), Letter) &&
                      !IsPhrase(Lower(noun), Reading::kNotUnit);
  if (counts) unit = " " + std::string(noun);
  return unit;
}

}  // namespace

size_t PlaceOfNumber(std::string_view text, std::string_view number) {
  for (size_t at = text.rfind(number); at != kNowhere;
       at = at == 0 ? kNowhere : text.rfind(number, at - 1)) {
    const std::string_view behind = text.substr(at + number.size());
    const bool front = at > 0 && (Digit(text[at - 1]) || text[at - 1] == '.' ||
                                  Letter(text[at - 1]));
    const bool back =
        !behind.empty() &&
        (Digit(behind[0]) || (behind.size() > 1 && Digit(behind[1]) &&
                              (behind[0] == '.' || behind[0] == ',')));
    if (!front && !back) return at;
  }
  return kNowhere;
}

std::string UnitBeside(std::string_view response, std::string_view number) {
  number = TrimBlanks(number);
  if (number.empty() || number.size() > kLongestNumber) return {};
  const size_t at = PlaceOfNumber(response, number);
  if (at == kNowhere) return {};
  const size_t end = at + number.size();
  const std::string_view rest =
      WithoutSigns(response.substr(end, kLongestUnit));
  const std::string_view first = FirstToken(rest);
  const bool money = IsMoney(response, at, end);
  const auto goes_on = [](std::string_view word) {
    return IsPhrase(Lower(word), Reading::kUnitGoesOn);
  };
  if (money) {
    const bool more = goes_on(first) || rest.starts_with("/") ||
                      IsPhrase(first, Reading::kScale);
    return more ? std::string() : " dollars";
  }
  if (first.empty() || IsPhrase(Lower(first), Reading::kNotUnit)) return {};
  size_t length = first.size();
  const auto next = [&rest, &length] {
    const size_t blank = length < rest.size() && rest[length] == ' ' ? 1 : 0;
    return blank == 0 ? std::string_view()
                      : FirstToken(rest.substr(length + 1));
  };
  // "degrees Celsius" is no angle (marks_beside.h).
  if (IsPhrase(Lower(std::string(first) + " " + std::string(next())),
               Reading::kMark)) {
    return {};
  }
  if (IsPhrase(first, Reading::kSquareCubic)) length += next().size() + 1;
  if (next() == "per") {
    length += 4;
    length += next().size() + 1;
  }
  if (length > rest.size() || goes_on(next())) return {};
  std::string unit = " " + std::string(rest.substr(0, length));
  // "cm$^2$", "cm\u00b2"
  for (const char power : {'2', '3'}) {
    const std::string sign = {'^', power};
    const std::string braces = {'^', '{', power, '}'};
    if (rest.substr(length).starts_with("$" + sign + "$") ||
        rest.substr(length).starts_with("$" + braces + "$")) {
      unit += sign;
    }
  }
  return ReadUnit(unit).known ? unit : std::string();
}

std::optional<std::pair<std::string, std::string>> UnitsApart(
    std::string_view gold, std::string_view answer) {
  constexpr size_t kLongestGold = 200, kLongestAnswer = 4000;
  if (gold.size() > kLongestGold) return std::nullopt;
  answer.remove_prefix(answer.size() - std::min(answer.size(), kLongestAnswer));
  const auto in_digits = [](std::string_view text) {
    const std::string plain = WithoutUnitHyphens(text);
    // "2 million" is not two numbers.
    return HasDigits(plain) && Holds(Lower(plain), Reading::kScale)
               ? plain
               : WithDigits(plain);
  };
  const std::string from = in_digits(gold), to = in_digits(answer);
  if (from == gold && to == answer) return std::nullopt;
  const auto place = LastNumberPlace(from);
  // "2 hours and 15 minutes"
  if (!place || LastNumberPlace(from.substr(0, place->start))) {
    return std::nullopt;
  }
  const std::string wanted = UnitAt(from, *place);
  if (wanted.empty()) return std::nullopt;
  const bool known = wanted == "%" || ReadUnit(wanted).known;
  const std::string number =
      from.substr(place->start, place->end - place->start);
  std::string other;
  BigRational factor;
  std::string_view rest = to;
  bool only = true;
  while (const auto said = LastNumberPlace(rest)) {
    const std::string unit = UnitAt(rest, *said);
    rest = rest.substr(0, said->start);
    const bool same = to.substr(said->start, said->end - said->start) == number;
    only = only && !LastNumberPlace(rest);
    if (unit.empty() || !(same || only)) continue;
    // Two nouns may be two words for one thing.
    if (!known && unit != "%" && !ReadUnit(unit).known) return std::nullopt;
    const bool alike = Convertible(ReadUnit(wanted), ReadUnit(unit), &factor) &&
                       (!same || factor == 1);
    if (alike) return std::nullopt;
    if (other.empty()) other = unit;
  }
  if (other.empty()) return std::nullopt;
  return std::pair(std::string(TrimBlanks(wanted)),
                   std::string(TrimBlanks(other)));
}

}  // namespace espalier
