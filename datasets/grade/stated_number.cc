#include "datasets/grade/stated_number.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/extract_answer.h"
#include "datasets/grade/phrases.h"
#include "datasets/grade/units.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Of a sentence without a verb that is known: fewer are a remark.
constexpr int kFewestWords = 4;

// Where the sentence begins that ends at the end of `text`.
size_t SentenceStart(std::string_view text) {
  for (size_t at = text.size(); at-- > 1;) {
    const char stop = text[at - 1];
    if (text[at] == '\n' ||
        ((stop == '.' || stop == '!' || stop == '?') && Blank(text[at]))) {
      return at + 1;
    }
  }
  return 0;
}

// Without what may stand between a verb and its number: emphasis, quotes,
// brackets, signs of currency.
std::string_view WithoutMarks(std::string_view lead) {
  while (!lead.empty()) {
    const char c = lead.back();
    if (Blank(c) || std::string_view("*_$(\"'`\\~").find(c) != kNone) {
      lead.remove_suffix(1);
    } else if (lead.ends_with("\u20ac") || lead.ends_with("\u2248")) {
      lead.remove_suffix(3);
    } else if (lead.ends_with("\u00a3")) {
      lead.remove_suffix(2);
    } else {
      break;
    }
  }
  return lead;
}

// Whether the signs around a number make it a part of a formula, which no
// number is read out of: "10^{2}", "5!", "2\u221a3", "x + 5".
bool InFormula(std::string_view text, const NumberPlace& place) {
  const std::string_view behind = text.substr(place.end);
  const char next = behind.empty() ? ' ' : behind[0];
  if (next == '^' || next == '(' || next == '*') return true;
  if (next == '!' && behind.size() > 2 && behind[1] == ' ' &&
      std::islower(static_cast<unsigned char>(behind[2])) != 0) {
    return true;
  }
  // "5x" and "3pi" are no 5 and no 3; "5cm" and "5m\u00b2" are quantities.
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
  for (const std::string_view sign : {"\u00d7", "\u221a", "\u00b1", "\u2260",
                                      "\u2264", "\u2265", "<", "!="}) {
    if (lead.ends_with(sign)) return true;
  }
  if (lead.ends_with(">") && !behind.starts_with("<")) return true;
  if (lead.empty() || std::string_view("+*/^{_").find(lead.back()) == kNone) {
    return false;
  }
  return !lead.ends_with("**") && !lead.ends_with("__");
}

// Whether another number stands in the clause that ends with `lead`, without
// a sign that it only leads to the next one.
bool OtherNumber(std::string_view lead) {
  const size_t equal = lead.rfind('=');
  if (equal != kNone) return false;
  for (const std::string_view joint : Phrases(Reading::kClause)) {
    if (const size_t at = lead.rfind(joint); at != kNone) {
      lead = lead.substr(at + joint.size());
    }
  }
  return std::any_of(lead.begin(), lead.end(), Digit);
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

}  // namespace

StatedNumber FindStatedNumber(std::string_view text, bool introduced) {
  const auto place = LastNumberPlace(text);
  if (!place || InFormula(text, *place)) return {};
  const size_t start = SentenceStart(text.substr(0, place->start));
  const std::string_view whole = text.substr(start, place->start - start);
  const std::string lead = Lower(WithoutMarks(whole));
  const std::string tail(TrimBlanks(Lower(text.substr(place->end, 200))));
  const size_t states = EndsIn(lead, Reading::kStates);
  if (EndsIn(lead, Reading::kBounds) > states) {
    if (!lead.ends_with("not")) return {};
    // "5, not 7"
    const auto before =
        LastNumberPlace(text.substr(0, start + lead.size() - 3));
    return before ? StatedNumber{before->text, Trust::kDoubtful}
                  : StatedNumber{};
  }
  if (BeginsIn(tail, Reading::kBoundBehind) > 0) return {};
  const bool tagged = lead.ends_with(">") && tail.starts_with("<");
  if (lead.ends_with("=") || lead.ends_with(":") || tagged || states > 0) {
    return {place->text, Trust::kStated};
  }
  const int words = CountWords(lead) + CountWords(tail);
  // "Tom ran 17 miles."
  const bool clause =
      words >= kFewestWords || (CountWords(lead) > 1 && CountWords(tail) > 0);
  const bool remark = !introduced && !clause;
  const bool several = OtherNumber(lead);
  // "The 2 of 5"
  if (words == 0 || (remark && several)) return {};
  return {place->text, remark || several ? Trust::kDoubtful : Trust::kStated};
}

}  // namespace espalier
