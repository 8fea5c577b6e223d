#include "datasets/answers/find/claimed_boxes.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <utility>

#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/choice.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// Length of the text next to a box that is examined.
constexpr size_t kBeside = 80;

// The lines that begin with a percent sign, in order.
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
  for (size_t at = 0; (at = text.find("<!--", at)) != kNowhere;) {
    const size_t close = text.find("-->", at);
    const size_t end = close == kNowhere ? text.size() : close + 3;
    out.push_back({at, end, at, end});
    at = end;
  }
  return out;
}

// Whether `at` lies in one of the disjoint parts.
bool Inside(const std::vector<Span>& parts, size_t at) {
  const auto next = std::upper_bound(
      parts.begin(), parts.end(), at,
      [](size_t place, const Span& part) { return place < part.start; });
  return next != parts.begin() && at < std::prev(next)->end;
}

// Removes `ending` from the end of `words`, and the blanks in front of it, so
// that `words` ends in what it names; false if it does not end so.
bool DropLast(std::string_view& words, std::string_view ending) {
  if (!words.ends_with(ending)) return false;
  const std::string_view front = words.substr(0, words.size() - ending.size());
  if (!front.empty() && Letter(front.back()) && Letter(ending.front())) {
    return false;
  }
  words = TrimBlanks(front);
  return true;
}

// The same for the first of the phrases that `words` ends in.
bool DropLast(std::string_view& words, Reading endings) {
  const auto& phrases = Phrases(endings);
  return std::any_of(
      phrases.begin(), phrases.end(),
      [&words](std::string_view ending) { return DropLast(words, ending); });
}

// "An incorrect answer would be", "leads to the wrong result". But the cost of
// wrong answers, their number and the wrong value itself can be the answer:
// "The number of bad answers is", "The wrong value is".
bool CalledWrong(std::string_view words) {
  std::string_view clause = words.substr(ClauseStart(words));
  const bool supposed = DropLast(clause, Reading::kWouldBe);
  const bool stated =
      !supposed && (DropLast(clause, Reading::kIs) || DropLast(clause, ":"));
  const bool said = DropLast(clause, Reading::kGuess);
  if (supposed && !said) {
    clause = TrimBlanks(clause.substr(0, clause.rfind(' ') + 1));
  } else if (!said && !DropLast(clause, Reading::kOutcome)) {
    return false;
  }
  const size_t wrong = EndsIn(clause, Reading::kWrongKind);
  if (wrong == 0) return false;
  clause = TrimBlanks(clause.substr(0, clause.size() - wrong));
  DropLast(clause, Reading::kUsual);
  const bool asked_for = stated && !said && DropLast(clause, "the");
  if (asked_for) return false;
  DropLast(clause, Reading::kArticle);
  // "The textbook's (erroneous) answer is"
  return clause.empty() || clause.ends_with("'s") ||
         (!supposed && !stated && EndsIn(clause, Reading::kStates) > 0);
}

// Whether a clause ends at `at`, or continues with where, why or when it holds.
bool ClauseEnds(std::string_view text, size_t at) {
  const size_t next = std::min(text.find_first_not_of(" \t", at), text.size());
  if (next == text.size() || text[next] == '\n') return true;
  if (std::string_view(".,;:!?)}]*_\"(").find(text[next]) != kNowhere)
    return true;
  if (next == at) return false;
  const std::string words = PlainLower(text.substr(next, kBeside));
  return BeginsIn(words, Reading::kEndsClause) > 0 || words.starts_with("- ") ||
         words.starts_with("--") || words.starts_with("\u2013") ||
         words.starts_with("\u2014");
}

// Whether a box names one of several things that the sentence judges, so that
// it is still the answer: "Option \\boxed{C} is incorrect", "Step \\boxed{4}".
bool NamesOne(std::string_view words, std::string_view inside) {
  const std::string name = StripDelimiters(inside);
  std::string content;
  if (ReadChoice(name, &content) != 0) return content.empty();
  const bool number =
      name.size() <= 3 && (std::all_of(name.begin(), name.end(), Digit) ||
                           name.find_first_not_of("IVX") == kNowhere);
  return number && (EndsIn(words, Reading::kLabels) > 0 ||
                    DropLast(words, Reading::kStatement));
}

enum class Claim {
  kMeant,
  kDenied,
  // It is called wrong, which is the answer if no other box is meant.
  kWrongOne,
};

Claim ClaimOf(std::string_view text, const Span& box) {
  const size_t start = box.outer_start - std::min(box.outer_start, kBeside);
  std::string_view lead = text.substr(start, box.outer_start - start);
  lead = WithoutMarks(lead.substr(SentenceStart(lead)));
  while (lead.ends_with("{") || lead.ends_with("\\text")) {
    lead.remove_suffix(lead.ends_with("{") ? 1 : 5);
    lead = WithoutMarks(lead);
  }
  const std::string words = PlainLower(lead);
  if (EndsIn(words, Reading::kNotThis) > 0 || CalledWrong(words)) {
    return Claim::kDenied;
  }
  const std::string_view tail = text.substr(box.outer_end, kBeside);
  const std::string behind = PlainLower(tail);
  const size_t word = behind.find_first_not_of("*_$)\"'`\\~ ]},");
  if (word == kNowhere) return Claim::kMeant;
  std::string_view rest = std::string_view(behind).substr(word);
  if (rest.starts_with("?")) return Claim::kDenied;
  rest.remove_prefix(StartsWith(rest, Reading::kPointsBack));
  const size_t taken = BeginsIn(rest, Reading::kTakenBack);
  if (taken == 0 || !ClauseEnds(tail, tail.size() - rest.size() + taken)) {
    return Claim::kMeant;
  }
  return NamesOne(words, text.substr(box.start, box.end - box.start))
             ? Claim::kWrongOne
             : Claim::kDenied;
}

// "but this is right": whether the text behind an admitted mistake adds
// nothing, or calls the answer right.
bool Settles(std::string_view lower) {
  const size_t word = lower.find_first_not_of(" ,;:.!)*\n");
  if (word == kNowhere) return true;
  return Mentions(lower, Reading::kAffirms) &&
         !Mentions(lower, Reading::kDenies) &&
         !Mentions(lower, Reading::kRetracts) &&
         std::none_of(lower.begin(), lower.end(), Digit);
}

// "I was wrong earlier in saying 4, but this is right." refers to an earlier
// answer. `at` is where a retracting phrase begins.
bool OfEarlier(std::string_view lower, size_t at, size_t behind) {
  if (!lower.substr(at).starts_with("i")) return false;
  const size_t start = SentenceStart(lower.substr(0, at));
  const size_t end = behind + SentenceLength(lower.substr(behind));
  if (!Mentions(lower.substr(start, end - start), Reading::kEarlier)) {
    return false;
  }
  const size_t joint = std::min(lower.find_first_of(",;:", behind), end);
  const std::string_view said = lower.substr(behind, joint - behind);
  return !Mentions(said, Reading::kCopula) &&
         Settles(lower.substr(joint, end - joint)) &&
         Settles(lower.substr(end));
}

}  // namespace

std::vector<Span> ClaimedBoxes(std::string_view text) {
  const std::vector<Span> lines = CommentLines(text),
                          hidden = HiddenParts(text);
  std::vector<Span> meant, wrong;
  // No answer has more; this many are kept to show that there are too many.
  constexpr std::ptrdiff_t kMost = 450;
  std::vector<Span> boxes = Boxes(text);
  const auto size = static_cast<std::ptrdiff_t>(boxes.size());
  boxes.erase(boxes.begin(),
              boxes.begin() + std::max<std::ptrdiff_t>(0, size - kMost));
  for (const Span& box : boxes) {
    if (Inside(lines, box.outer_start) || Inside(hidden, box.outer_start)) {
      continue;
    }
    const Claim claim = ClaimOf(text, box);
    if (claim == Claim::kMeant) meant.push_back(box);
    if (claim == Claim::kWrongOne) wrong.push_back(box);
  }
  return meant.empty() ? wrong : meant;
}

bool Retracted(std::string_view behind) {
  constexpr size_t kLongest = 4000;
  const std::string lower = PlainLower(behind.substr(0, kLongest));
  if (!Mentions(lower, Reading::kRetracts)) return false;
  for (const std::string_view phrase : Phrases(Reading::kRetracts)) {
    for (size_t at = 0; (at = lower.find(phrase, at)) != kNowhere; ++at) {
      if (!OfEarlier(lower, at, at + phrase.size())) return true;
    }
  }
  return false;
}

namespace {

// "2\\boxed{12}", "\\boxed{12}^2", "\\boxed{12} million": text that touches a
// box, or scales it.
bool Glued(std::string_view text, const Span& box) {
  const std::string_view lead = text.substr(0, box.outer_start);
  const std::string_view behind = text.substr(box.outer_end);
  const char next = behind.empty() ? ' ' : behind[0];
  if (!lead.empty() && (Digit(lead.back()) || lead.back() == '-')) {
    return true;
  }
  if (lead.ends_with("\\sqrt{") || lead.ends_with("}{")) return true;
  if (Digit(next) || next == '^' || next == '!' || next == '/' ||
      behind.starts_with("\\pi")) {
    return !behind.starts_with("^\\circ") && !behind.starts_with("^{\\circ") &&
           !(next == '!' && (behind.size() == 1 || Blank(behind[1])));
  }
  const size_t word = behind.find_first_not_of(" $\\)");
  if (word == kNowhere || word > 4) return false;
  const std::string lower = PlainLower(behind.substr(word, 10));
  return StartsWith(lower, Reading::kScale) > 0;
}

}  // namespace

bool PartOfFormula(std::string_view text, const Span& box) {
  constexpr size_t kLongest = 200;
  if (Glued(text, box)) return true;
  // "x = \\boxed{9}y"; other letters may be a unit: "\\boxed{5}m".
  const std::string_view next = text.substr(box.outer_end, 2);
  const bool variable =
      !next.empty() &&
      std::string_view("xyznk").find(next[0]) != std::string_view::npos &&
      (next.size() == 1 ||
       std::isalpha(static_cast<unsigned char>(next[1])) == 0);
  if (variable) return true;
  std::string_view lead = text.substr(0, box.outer_start);
  lead = lead.substr(lead.size() - std::min(lead.size(), kLongest));
  if (lead.size() > 1 && lead.back() == '-' && Blank(lead[lead.size() - 2])) {
    return true;
  }
  // Only inside formula delimiters: in text "-" is a dash.
  size_t open = kNowhere;
  std::string_view close;
  for (const auto& [begin, end] :
       {std::pair<std::string_view, std::string_view>{"\\[", "\\]"},
        {"\\(", "\\)"},
        {"$", "$"}}) {
    const size_t at = lead.rfind(begin);
    if (at == kNowhere || (open != kNowhere && at < open)) continue;
    open = at + begin.size();
    close = end;
  }
  if (open == kNowhere) return false;
  lead = lead.substr(open);
  const bool left = close != "$" && lead.find(close) != kNowhere;
  if (left || lead.find('\n') != kNowhere) return false;
  std::string_view behind = text.substr(box.outer_end, kLongest);
  const size_t end = behind.find(close);
  if (end == kNowhere) return false;
  behind = TrimBlanks(behind.substr(0, end));
  // "5 + \\boxed{7} = 12" requests a part.
  if (behind.find('=') != kNowhere) return false;
  lead = TrimBlanks(lead);
  for (const std::string_view sign :
       {"-", "^", "^{", "\\sqrt{", "\\cdot", "\\times", "\\frac{", "/", ">",
        "<", "\\le", "\\leq", "\\ge", "\\geq", "\\log", "\\ln"}) {
    if (lead.ends_with(sign)) return true;
  }
  if (!lead.empty() && Digit(lead.back())) return true;
  for (const std::string_view sign : {"^", "!", "\\cdot", "\\times", "\\pi",
                                      "\\sqrt", "+", "-", "/", "*", "\\pm"}) {
    if (behind.starts_with(sign) && !behind.starts_with("^\\circ") &&
        !behind.starts_with("^{\\circ") && !behind.starts_with("\\pmod")) {
      return true;
    }
  }
  return !behind.empty() && Digit(behind[0]);
}

std::string WithoutLeadIn(std::string_view said) {
  for (const std::string_view mark : {"\\text{", "\\textbf{", "\\mathrm{"}) {
    if (!said.starts_with(mark)) continue;
    const size_t close = said.find('}');
    if (close == kNowhere) break;
    const std::string_view inner =
        said.substr(mark.size(), close - mark.size());
    const std::string words(TrimBlanks(PlainLower(inner)));
    // "\\text{A: }x = 3" names a choice.
    if (LetterAlone(inner) != 0) break;
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
