#include "datasets/answers/find/bold_answer.h"

#include <algorithm>

#include "datasets/answers/find/answer_spans.h"
#include "datasets/answers/find/claimed_boxes.h"
#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/find/lead_words.h"
#include "datasets/answers/find/outright.h"
#include "datasets/answers/find/related.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr std::string_view kBold = "**";
constexpr size_t kLongestBold = 80;
constexpr size_t kLongestCommitted = 600;

// Without check marks, emoji, bullets and full stops at the end.
std::string_view WithoutEndMarks(std::string_view text) {
  while (true) {
    text = TrimBlanks(text);
    const size_t before = text.size();
    while (!text.empty() && (text.back() == '.' || text.back() == '!')) {
      text.remove_suffix(1);
    }
    // The last character: a sign such as a check mark, or a selector.
    size_t start = text.size();
    while (start > 0 && (text[start - 1] & 0xc0) == 0x80) --start;
    if (start > 0 && start < text.size()) --start;
    const std::string_view last = text.substr(start);
    if (last.starts_with("\xf0\x9f") || last.starts_with("\xe2\x9c") ||
        last == "\uFE0F") {
      text.remove_suffix(last.size());
    }
    if (text.size() == before) return text;
  }
}

// The content of a line or sentence that is wholly bold; empty if it is not.
std::string_view WhollyBold(std::string_view line) {
  line = WithoutEndMarks(line);
  line.remove_prefix(std::min(line.find_first_not_of("#> "), line.size()));
  if (line.size() < 5 || !line.starts_with(kBold) || !line.ends_with(kBold)) {
    return {};
  }
  line = line.substr(2, line.size() - 4);
  if (line.find('*') != kNowhere || Blank(line[0])) return {};
  return WithoutEndMarks(line);
}

std::string_view LineAbove(std::string_view text) {
  text = TrimBlanks(text);
  return TrimBlanks(text.substr(text.rfind('\n') + 1));
}

bool IsListItem(std::string_view line) {
  return line.starts_with("- ") || line.starts_with("* ") ||
         line.starts_with("\u2022");
}

// Whether words turn, doubt or deny what they introduce.
bool TurnsFrom(std::string_view lower) {
  for (const Reading turn :
       {Reading::kDenies, Reading::kDoubts, Reading::kMaybe, Reading::kWrong,
        Reading::kOtherTry, Reading::kMisleads, Reading::kAttributes,
        Reading::kPartLabel, Reading::kRejects}) {
    if (Mentions(lower, turn)) return true;
  }
  return false;
}

// "Equation of the line: | y = 4x - 7", "Area = | 49", "So | x = 3": without
// words that only introduce a formula.
std::string_view WithoutLabel(std::string_view said) {
  const std::string lower = PlainLower(said);
  if (const size_t so = BeginsIn(lower, Reading::kTherefore); so > 0) {
    said.remove_prefix(so);
    said.remove_prefix(std::min(said.find_first_not_of(" ,"), said.size()));
  }
  for (const char sign : {':', '='}) {
    const size_t at = said.find(sign);
    if (at == kNowhere || at < 3 || at + 1 == said.size()) continue;
    const std::string_view label = TrimBlanks(said.substr(0, at));
    const bool words = std::all_of(label.begin(), label.end(), [](char c) {
      return Letter(c) || Blank(c) || c == '-';
    });
    const size_t word = label.find(' ');
    // "The slope of y = 2x" has a letter in front of its sign.
    const size_t last = label.rfind(' ') + 1;
    const bool named = std::min(word, label.size()) > 1 && label.size() > 2 &&
                       (sign == ':' || label.size() - last > 1);
    if (!words || !named || TurnsFrom(PlainLower(label)) ||
        BeginsIn(PlainLower(label), Reading::kChecks) > 0) {
      continue;
    }
    return TrimBlanks(said.substr(at + 1));
  }
  return said;
}

// Whether a text begins with a formula: a sign, a number, or a letter and what
// it is equal to; not with words.
bool BeginsFormula(std::string_view text) {
  if (text.empty()) return false;
  const auto c = static_cast<unsigned char>(text[0]);
  if (Digit(text[0]) || c >= 0x80 ||
      std::string_view("-+([{|").find(text[0]) != kNowhere) {
    return true;
  }
  size_t end = 0;
  while (end < text.size() && Letter(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  for (const std::string_view function :
       {"sqrt", "ln", "log", "sin", "cos", "tan", "pi", "e", "arctan"}) {
    if (word == function) return true;
  }
  if (end != 1) return false;
  // "x_1", "f'(x)"
  while (end < text.size() &&
         (Digit(text[end]) || text[end] == '_' || text[end] == '\'')) {
    ++end;
  }
  if (end < text.size() && text[end] == '(') {
    end = std::min(text.find(')', end), text.size() - 1) + 1;
  }
  const std::string_view rest = TrimBlanks(text.substr(end));
  return !rest.empty() && (std::string_view("=<>").find(rest[0]) != kNowhere ||
                           static_cast<unsigned char>(rest[0]) >= 0x80);
}

// Whether a bold line is a formula rather than words or a plain number.
bool IsFormula(std::string_view said) {
  const bool sign = std::any_of(said.begin(), said.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("=<>^/()[]{}|+").find(c) != kNowhere;
  });
  return BeginsFormula(said) && sign && said.size() <= kLongestBold &&
         said.find_first_of("$\\:?;") == kNowhere &&
         said.find(". ") == kNowhere;
}

// The letter that a line solves for, "x = 3"; 0 if none.
char SolvedLetter(std::string_view said) {
  const size_t equal = said.find('=');
  const std::string_view name = TrimBlanks(said.substr(0, equal));
  return equal != kNowhere && name.size() == 1 && Letter(name[0]) ? name[0] : 0;
}

// The bold parts of a text, with their marks; none if one is never closed.
std::vector<Span> BoldSpans(std::string_view text) {
  std::vector<Span> out;
  for (size_t at = text.find(kBold); at != kNowhere;) {
    const size_t close = text.find(kBold, at + 2);
    if (close == kNowhere) return {};
    out.push_back({at + 2, close, at, close + 2});
    at = text.find(kBold, close + 2);
  }
  return out;
}

std::string_view Inside(std::string_view text, const Span& span) {
  return text.substr(span.start, span.end - span.start);
}

// Whether two bold parts are items of one list.
bool JoinsBold(std::string_view between) {
  const std::string_view words = TrimBlanks(between);
  return words == "," || words == "and" || words == "or" || words == ", and" ||
         words == ", or" || words == "&";
}

// The first of the last bold parts that are joined.
size_t FirstJoined(std::string_view text, const std::vector<Span>& spans) {
  size_t first = spans.size() - 1;
  while (first > 0 && JoinsBold(text.substr(spans[first - 1].outer_end,
                                            spans[first].outer_start -
                                                spans[first - 1].outer_end))) {
    --first;
  }
  return first;
}

// Without the bold marks.
std::string Unbold(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kBold)) {
      ++at;
    } else {
      out += text[at];
    }
  }
  return out;
}

// Whether a text has a colon that is not one of a time of day.
bool HasColon(std::string_view text) {
  const size_t colon = text.find(':');
  return colon != kNowhere &&
         (colon + 1 == text.size() || !Digit(text[colon + 1]));
}

// Whether nothing but a bracket and marks follows in the sentence.
bool EndsSentence(std::string_view tail) {
  std::string_view rest = TrimBlanks(tail);
  if (rest.starts_with("(")) {
    const size_t close = rest.find(')');
    if (close == kNowhere) return false;
    rest = TrimBlanks(rest.substr(close + 1));
  }
  return WithoutEndMarks(rest).empty();
}

// Whether a sentence about a claim calls it true or false.
bool JudgesClaim(std::string_view lead) {
  const size_t is = EndsIn(lead, Reading::kIs);
  if (is == 0) return false;
  lead = TrimBlanks(lead.substr(0, lead.size() - is));
  const size_t comma = lead.rfind(',');
  if (comma != kNowhere) lead = TrimBlanks(lead.substr(comma + 1));
  lead.remove_prefix(BeginsIn(lead, Reading::kTherefore));
  lead = TrimBlanks(lead);
  return IsPhrase(lead, Reading::kJudged);
}

// Whether the text behind a bold part leaves it as it is.
bool StaysSo(std::string_view later, std::string_view said) {
  if (Retracted(later) || Hedged(later) || TakenBackLater(later, said)) {
    return false;
  }
  const std::string verdict = Lower(said);
  const bool judges = IsPhrase(verdict, Reading::kTrueFalse) ||
                      IsPhrase(verdict, Reading::kYesNo);
  while (!(later = TrimBlanks(later)).empty()) {
    const size_t length = std::max<size_t>(SentenceLength(later), 1);
    const std::string sentence = PlainLower(later.substr(0, length));
    later.remove_prefix(std::min(length, later.size()));
    if (BeginsIn(sentence, Reading::kTurnsBack) > 0 ||
        BeginsIn(sentence, Reading::kTherefore) > 0 ||
        BeginsIn(sentence, Reading::kCorrects) > 0 ||
        Mentions(sentence, Reading::kOtherTry)) {
      return false;
    }
    if (!judges) continue;
    for (const std::string_view other : Phrases(Reading::kTrueFalse)) {
      if (other != verdict && Mentions(sentence, Reading::kTrueFalse) &&
          sentence.find(other) != std::string::npos) {
        return false;
      }
    }
  }
  return true;
}

// The bold part of a short response that it commits to; empty if none.
std::string CommittedPart(std::string_view text) {
  if (text.size() > kLongestCommitted || text.find("boxed") != kNowhere)
    return {};
  std::vector<Span> spans = BoldSpans(text);
  std::erase_if(spans, [text](const Span& span) {
    return Inside(text, span).ends_with(":") ||
           text.substr(span.outer_end).starts_with(":");
  });
  if (spans.empty() || FirstJoined(text, spans) != 0) return {};
  const size_t from = spans[0].outer_start, to = spans.back().outer_end;
  const std::string said(WithoutEndMarks(Unbold(text.substr(from, to - from))));
  const size_t start = SentenceStart(text.substr(0, from));
  const std::string lead =
      PlainLower(WithoutMarks(text.substr(start, from - start)));
  const std::string_view behind = text.substr(to);
  // A full stop inside the bold part.
  const bool stops = Inside(text, spans.back()).ends_with(".");
  const size_t length = stops ? 0 : SentenceLength(behind);
  const std::string_view tail = behind.substr(0, length);
  const std::string_view later = behind.substr(std::min(length, behind.size()));
  if (said.size() > kLongestBold || said.find_first_of(":?\n\\$") != kNowhere ||
      !HasLetters(lead) || BeginsIn(lead, Reading::kImagines) > 0 ||
      HasRival(text.substr(start, from - start + (to - from) + length),
               from - start, to - start)) {
    return {};
  }
  // A number may be a step towards the answer.
  const bool number = HasDigits(said) && !HasLetters(said);
  if (number && HasDigits(later)) return {};
  const bool verdict = IsPhrase(Lower(said), Reading::kTrueFalse);
  if (verdict && !JudgesClaim(lead)) return {};
  const std::string after = PlainLower(tail);
  const bool ends = EndsSentence(tail);
  const std::string_view next = TrimBlanks(after);
  const bool goes_on = StartsWith(after, Reading::kReason) > 0 ||
                       StartsWith(after, Reading::kBehindName) > 0 ||
                       next.starts_with(",") || next.starts_with(";") ||
                       next.starts_with("(") || next.starts_with("\u2014") ||
                       next.starts_with("\u2013");
  // "was written by the Colombian author |"
  constexpr std::string_view kWrittenBy = "written by";
  constexpr size_t kLongestRole = 40;
  const size_t written = lead.rfind(kWrittenBy);
  const std::string_view who = written == std::string::npos
                                   ? std::string_view()
                                   : TrimBlanks(std::string_view(lead).substr(
                                         written + kWrittenBy.size()));
  const bool role = who.starts_with("the ") && who.size() <= kLongestRole &&
                    EndsIn(who, Reading::kRole) > 0 &&
                    who.find(" of ") == kNowhere && who.find(',') == kNowhere &&
                    who.find("'s ") == kNowhere;
  const bool writes =
      written != std::string::npos && (who.empty() || role) &&
      EndsIn(TrimBlanks(std::string_view(lead).substr(0, written)),
             Reading::kIs) > 0;
  const bool stated = (writes && role) || EndsIn(lead, Reading::kStates) > 0 ||
                      EndsIn(lead, Reading::kIs) > 0 || lead.ends_with(" by") ||
                      lead.ends_with(" the") || lead.ends_with(" a");
  if (!ends && (!goes_on || !stated)) return {};
  if (StanceAt(text, from, to) != Stance::kStates ||
      StanceBeside(text.substr(start, from - start), tail) != Stance::kStates ||
      !OnlyRelated(said, lead + " " + said).empty() || !StaysSo(later, said)) {
    return {};
  }
  // A passive with its agent attributes nothing.
  std::string plain(text);
  if (writes) {
    const size_t at = PlainLower(text).rfind(kWrittenBy, from);
    plain.replace(at, kWrittenBy.size(), "created by");
  }
  const bool claimed =
      DoubtAbout(plain, std::string_view(plain).substr(from, to - from))
          .empty();
  return claimed ? said : std::string();
}

}  // namespace

bool HasRival(std::string_view sentence, size_t open, size_t close) {
  const std::string_view front = sentence.substr(0, open);
  const std::string_view behind = sentence.substr(close);
  const std::string lower = PlainLower(behind.substr(0, 12));
  const size_t word = lower.find_first_not_of(" ,;");
  const std::string_view next =
      std::string_view(lower).substr(std::min(word, lower.size()));
  if (next.starts_with("or ") || next.starts_with("but ") ||
      next.starts_with("only ") || next.starts_with("before ") ||
      next.starts_with("until ") || next.starts_with("unless ")) {
    return true;
  }
  // "is **true** for a, but false for b"
  const std::string said =
      Lower(sentence.substr(open + 2, std::max(close, open + 4) - open - 4));
  if (IsPhrase(said, Reading::kTrueFalse)) {
    const std::string later = PlainLower(behind);
    for (const std::string_view other : Phrases(Reading::kTrueFalse)) {
      if (other != said && later.find(other) != std::string::npos) return true;
    }
  }
  if (Mentions(PlainLower(front.substr(ClauseStart(PlainLower(front)))),
               Reading::kEither)) {
    return true;
  }
  const size_t before = front.rfind(kBold);
  if (before != kNowhere && JoinsBold(front.substr(before + 2))) return true;
  const size_t after = behind.find(kBold);
  return after != kNowhere && JoinsBold(behind.substr(0, after));
}

std::optional<BoldPart> BoldLine(std::string_view text) {
  text = TrimBlanks(text);
  const size_t line = text.rfind('\n');
  if (line == kNowhere) return std::nullopt;
  const std::string_view whole = WhollyBold(text.substr(line + 1));
  const std::string_view said = WithoutLabel(whole);
  if (whole.empty() || whole.size() > kLongestBold || !IsFormula(said)) {
    return std::nullopt;
  }
  const std::string_view before = text.substr(0, line);
  const std::string_view above = WhollyBold(LineAbove(before));
  // "x = 2 and\n**y = 3**"
  const std::string lead = PlainLower(LineAbove(before));
  if (IsListItem(LineAbove(before)) || lead.ends_with(",") ||
      lead.ends_with(" and") || lead.ends_with(" or")) {
    return std::nullopt;
  }
  BoldPart out{std::string(said), said};
  if (above.empty()) return out;
  // "**x = 2**\n**x = 3**"
  const char letter = SolvedLetter(said);
  const std::string_view other = WithoutLabel(above);
  if (letter == 0 || SolvedLetter(other) == 0 || !IsFormula(other)) {
    return std::nullopt;
  }
  out.text = std::string(other) + ", " + std::string(said);
  out.place = {};
  return out;
}

std::optional<BoldPart> BoldList(std::string_view text) {
  text = TrimBlanks(text);
  std::string_view body = WithoutEndMarks(text);
  const size_t start = LastSentenceStart(body);
  const std::string_view sentence = body.substr(start);
  if (sentence.size() > kLongestCommitted) return std::nullopt;
  const std::vector<Span> spans = BoldSpans(sentence);
  if (spans.size() < 2) return std::nullopt;
  const size_t first = FirstJoined(sentence, spans);
  const size_t from = spans[first].outer_start, to = spans.back().outer_end;
  if (first + 1 == spans.size() || !EndsSentence(sentence.substr(to))) {
    return std::nullopt;
  }
  for (size_t i = first; i < spans.size(); ++i) {
    const std::string_view item = Inside(sentence, spans[i]);
    if (item.empty() || item.find_first_of(":?\n$\\") != kNowhere) {
      return std::nullopt;
    }
  }
  const std::string_view place = sentence.substr(from, to - from);
  return BoldPart{Unbold(place), place};
}

std::vector<std::string> BoldWords(std::string_view text) {
  std::vector<std::string> out;
  text = TrimBlanks(text);
  if (std::string part = CommittedPart(text); !part.empty()) {
    out.push_back(std::move(part));
  }
  const std::string_view body = WithoutEndMarks(text);
  const size_t open = body.size() > 4 && body.ends_with(kBold)
                          ? body.rfind(kBold, body.size() - 3)
                          : kNowhere;
  if (open == kNowhere || open == 0) return out;
  const std::string_view front = TrimBlanks(body.substr(0, open));
  const bool begins = body.substr(0, open).ends_with("\n") ||
                      front.ends_with(".") || front.ends_with("!") ||
                      front.ends_with(":");
  const std::string_view said = WhollyBold(body.substr(open));
  const std::string lower_said = PlainLower(said);
  if (!begins || said.empty() || said.size() > kLongestBold ||
      said.find_first_of("?\n\\$=<>") != kNowhere || HasColon(said) ||
      BeginsIn(lower_said, Reading::kChecks) > 0 ||
      Mentions(lower_said, Reading::kImagines) ||
      Mentions(lower_said, Reading::kMaybe) ||
      Mentions(lower_said, Reading::kAbout)) {
    return out;
  }
  const std::string_view above = LineAbove(front);
  const std::string lower = PlainLower(above);
  const bool one = WhollyBold(above).empty() && !IsListItem(above);
  const bool turned = above.ends_with(":") && TurnsFrom(lower);
  if (one && !turned) out.emplace_back(said);
  return out;
}

}  // namespace espalier
