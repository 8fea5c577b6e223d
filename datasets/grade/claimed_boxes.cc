#include "datasets/grade/claimed_boxes.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>

#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/phrases.h"
#include "datasets/grade/stance.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;
// The words beside a box that are looked at fit in.
constexpr size_t kBeside = 80;

// Where lines that begin with a percent sign lie, in order.
std::vector<Span> CommentLines(std::string_view text) {
  std::vector<Span> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t first = text.find_first_not_of(" \t", at);
    if (first < end && text[first] == '%') out.push_back({at, end, at, end});
    at = end + 1;
  }
  return out;
}

// "<!-- ... -->", in order.
std::vector<Span> HiddenParts(std::string_view text) {
  std::vector<Span> out;
  for (size_t at = 0; (at = text.find("<!--", at)) != kNone;) {
    const size_t close = text.find("-->", at);
    const size_t end = close == kNone ? text.size() : close + 3;
    out.push_back({at, end, at, end});
    at = end;
  }
  return out;
}

// Whether `at` lies in one of the parts, which do not meet.
bool Inside(const std::vector<Span>& parts, size_t at) {
  const auto next = std::upper_bound(
      parts.begin(), parts.end(), at,
      [](size_t place, const Span& part) { return place < part.start; });
  return next != parts.begin() && at < std::prev(next)->end;
}

// Of a clause up to what it names: without one of the words that it ends in,
// and the blanks in front of that.
bool DropLast(std::string_view& words,
              std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (!words.ends_with(ending)) continue;
    const std::string_view front =
        words.substr(0, words.size() - ending.size());
    if (!front.empty() && Letter(front.back()) && Letter(ending.front())) {
      continue;
    }
    words = TrimBlanks(front);
    return true;
  }
  return false;
}

// "An incorrect answer would be", "leads to the wrong result". What such an
// answer costs, how many there are and which value is the wrong one are
// answers themselves: "The number of bad answers is", "The wrong value is".
bool CalledWrong(std::string_view words) {
  std::string_view clause = words.substr(ClauseStart(words));
  const bool supposed =
      DropLast(clause, {"would be", "could be", "might be", "may be"});
  const bool stated = !supposed && DropLast(clause, {"is", "was", ":"});
  const bool said = DropLast(clause, {"answer", "guess"});
  if (supposed && !said) {
    clause = TrimBlanks(clause.substr(0, clause.rfind(' ') + 1));
  } else if (!said && !DropLast(clause, {"result", "value", "solution"})) {
    return false;
  }
  const size_t wrong = EndsIn(clause, Reading::kWrongKind);
  if (wrong == 0) return false;
  clause = TrimBlanks(clause.substr(0, clause.size() - wrong));
  DropLast(clause, {"common", "typical", "tempting", "possible", "popular"});
  const bool asked_for = stated && !said && DropLast(clause, {"the"});
  if (asked_for) return false;
  DropLast(clause, {"a", "an", "the", "one", "another"});
  return clause.empty() ||
         (!supposed && !stated && EndsIn(clause, Reading::kStates) > 0);
}

bool Denied(std::string_view text, const Span& box) {
  const size_t start = box.outer_start - std::min(box.outer_start, kBeside);
  std::string_view lead = text.substr(start, box.outer_start - start);
  lead = WithoutMarks(lead.substr(SentenceStart(lead)));
  while (lead.ends_with("{") || lead.ends_with("\\text")) {
    lead.remove_suffix(lead.ends_with("{") ? 1 : 5);
    lead = WithoutMarks(lead);
  }
  const std::string words = PlainLower(lead);
  if (EndsIn(words, Reading::kNotThis) > 0 || CalledWrong(words)) return true;
  std::string behind = PlainLower(text.substr(box.outer_end, kBeside));
  const size_t word = behind.find_first_not_of("*_$)\"'`\\~ ]},");
  if (word == kNone) return false;
  std::string_view rest = std::string_view(behind).substr(word);
  if (rest.starts_with("?")) return true;
  for (const std::string_view name :
       {"which ", "this ", "that ", "but this ", "but that ", "but it "}) {
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    break;
  }
  return BeginsIn(rest, Reading::kTakenBack) > 0;
}

}  // namespace

std::vector<Span> ClaimedBoxes(std::string_view text) {
  const std::vector<Span> lines = CommentLines(text),
                          hidden = HiddenParts(text);
  std::vector<Span> boxes = Boxes(text);
  std::erase_if(boxes, [&](const Span& box) {
    return Inside(lines, box.outer_start) || Inside(hidden, box.outer_start) ||
           Denied(text, box);
  });
  return boxes;
}

bool Retracted(std::string_view behind) {
  constexpr size_t kLongest = 4000;
  return Mentions(PlainLower(behind.substr(0, kLongest)), Reading::kRetracts);
}

std::string WithoutLeadIn(std::string_view said) {
  for (const std::string_view mark : {"\\text{", "\\textbf{", "\\mathrm{"}) {
    if (!said.starts_with(mark)) continue;
    const size_t close = said.find('}');
    if (close == kNone) break;
    const std::string_view inner =
        said.substr(mark.size(), close - mark.size());
    const std::string words(TrimBlanks(PlainLower(inner)));
    const bool leads = EndsIn(words, Reading::kCopula) > 0 ||
                       words.ends_with(":") || words.ends_with("=");
    const std::string_view rest = TrimBlanks(said.substr(close + 1));
    if (leads && !rest.empty() && Affirms(inner) && !OfUnknown(words) &&
        StanceBeside(inner, {}) == Stance::kStates) {
      return std::string(rest);
    }
  }
  return std::string(said);
}

}  // namespace espalier
