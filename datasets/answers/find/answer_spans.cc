#include "datasets/answers/find/answer_spans.h"

#include <algorithm>
#include <utility>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// Whether the text between two dollar signs is a sentence: "$5 an hour for
// three hours, or $".
bool IsProse(std::string_view between) {
  int words = 0, depth = 0;
  bool letters = false;
  size_t run = 0;
  bool command = false;
  for (size_t i = 0; i <= between.size(); ++i) {
    const char c = i < between.size() ? between[i] : ' ';
    if (Letter(c)) {
      if (run == 0) command = i > 0 && between[i - 1] == '\\';
      ++run;
      continue;
    }
    words += run >= 3 && !command && depth == 0 ? 1 : 0;
    letters |= run >= 2 && !command && depth == 0;
    run = 0;
    if (c == '{') ++depth;
    if (c == '}') --depth;
  }
  if (words >= 2) return true;
  // "$250\nHe earns $10"
  if (letters && Blank(between.back())) return true;
  // "$40 - $25 = $15"
  between = TrimBlanks(between);
  while (between.ends_with("\\,") || between.ends_with("\\;")) {
    between = TrimBlanks(between.substr(0, between.size() - 2));
  }
  return !between.empty() &&
         (std::string_view("+-*/=").find(between.back()) != kNowhere ||
          between.ends_with("\u2212") || between.ends_with("\u2013") ||
          between.ends_with("\u00d7"));
}

// Whether the words between two answers merely join them.
bool Joins(std::string_view between, size_t longest) {
  if (between.size() > longest) return false;
  const std::string words = FoldWords(between);
  // "First \\boxed{1}, then \\boxed{2}": the later one is the answer.
  if (words.size() > 3 && Mentions(words, Reading::kRetracts)) return false;
  if (words.starts_with("then") || BeginsIn(words, Reading::kTherefore) > 0) {
    return false;
  }
  const bool listed = words.find("and") != std::string::npos ||
                      words.starts_with("or ") || between.find(',') != kNowhere;
  return between.find("\n\n") == kNowhere && between.find(". ") == kNowhere &&
         between.find(".\n") == kNowhere &&
         (listed || between.find('=') == kNowhere) &&
         std::count(words.begin(), words.end(), ' ') < 3;
}

}  // namespace

std::vector<Span> Boxes(std::string_view text) {
  std::vector<Span> out;
  // Bounds the search: each box that never closes would be scanned to the end.
  size_t budget = 4 * text.size() + 1000;
  for (const std::string_view mark :
       {"\\boxed", "\\fbox", "\\framebox", "\\bbox"}) {
    size_t at = 0;
    while ((at = text.find(mark, at)) != kNowhere) {
      size_t open = at + mark.size();
      while (open < text.size() && text[open] == ' ') ++open;
      // "\\framebox[2cm]{6}"
      if (open < text.size() && text[open] == '[') {
        const size_t end = text.substr(open, 60).find("]{");
        if (end != kNowhere) open += end + 1;
      }
      if (open >= text.size() || text[open] != '{') {
        // "\\boxed 17"
        size_t end = open;
        while (end < text.size() && (Digit(text[end]) || text[end] == '.')) {
          ++end;
        }
        if (end > open) out.push_back({open, end, at, end});
        at = std::max(end, at + 1);
        continue;
      }
      int depth = 0;
      size_t close = open;
      for (; close < text.size() && budget > 0; ++close, --budget) {
        if (text[close] == '\\' && close + 1 < text.size() &&
            (text[close + 1] == '{' || text[close + 1] == '}')) {
          ++close;
          continue;
        }
        if (text[close] == '{') ++depth;
        if (text[close] == '}' && --depth == 0) break;
      }
      const bool never = close >= text.size() || depth > 0;
      if (never) close = std::min(text.find('\n', open), text.size());
      out.push_back({open + 1, std::max(close, open + 1), at,
                     std::min(close + 1, text.size()), never});
      at = close;
    }
  }
  std::sort(out.begin(), out.end(), [](const Span& a, const Span& b) {
    return a.outer_start < b.outer_start;
  });
  return out;
}

namespace {

// Whether a multi-line formula environment begins here; sets its closing mark.
bool Environment(std::string_view text, std::string_view& close) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"\\begin{align}", "\\end{align}"},
      {"\\begin{align*}", "\\end{align*}"},
      {"\\begin{aligned}", "\\end{aligned}"},
      {"\\begin{gather}", "\\end{gather}"},
      {"\\begin{gather*}", "\\end{gather*}"},
      {"\\begin{eqnarray}", "\\end{eqnarray}"},
      {"\\begin{eqnarray*}", "\\end{eqnarray*}"}};
  if (!text.starts_with("\\begin{")) return false;
  for (const auto& [begin, end] : kNames) {
    if (!text.starts_with(begin)) continue;
    close = end;
    return true;
  }
  return false;
}

}  // namespace

std::vector<Span> Formulas(std::string_view text) {
  std::vector<Span> out;
  // Closing delimiters that do not occur again.
  std::vector<std::string_view> gone;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string_view close;
    size_t open = 0;
    const bool lines = Environment(text.substr(at, 20), close);
    if (lines && std::find(gone.begin(), gone.end(), close) == gone.end()) {
      const size_t end = text.find(close, at);
      if (end == kNowhere) {
        gone.push_back(close);
        ++at;
        continue;
      }
      const size_t after = end + close.size();
      out.push_back({at, after, at, after});
      at = after - 1;
      continue;
    }
    close = {};
    if (text[at] == '\\' && at + 1 < text.size()) {
      if (text[at + 1] == '(') close = "\\)";
      if (text[at + 1] == '[') close = "\\]";
      if (close.empty() || (at > 0 && text[at - 1] == '\\')) {
        ++at;
        continue;
      }
      open = 2;
    } else if (text[at] == '$') {
      const bool display = at + 1 < text.size() && text[at + 1] == '$';
      close = display ? "$$" : "$";
      open = display ? 2 : 1;
    } else {
      continue;
    }
    if (std::find(gone.begin(), gone.end(), close) != gone.end()) continue;
    size_t end = at + open;
    while ((end = text.find(close, end)) != kNowhere && text[end - 1] == '\\' &&
           close[0] == '$') {
      ++end;
    }
    if (end == kNowhere) {
      gone.push_back(close);
      continue;
    }
    // "$70,000.\n\n**$": a blank line ends a formula.
    if (open == 1 && close == "$" &&
        text.substr(at, end - at).find("\n\n") != kNowhere) {
      continue;
    }
    if (open == 1 && close == "$" && at + 1 < text.size() &&
        Digit(text[at + 1]) && IsProse(text.substr(at + 1, end - at - 1))) {
      continue;
    }
    const size_t after = end + close.size();
    if (!TrimBlanks(text.substr(at + open, end - at - open)).empty()) {
      out.push_back({at + open, end, at, after});
    }
    at = after - 1;
  }
  return out;
}

bool JoinsBoxes(std::string_view between) { return Joins(between, 40); }

bool JoinsFormulas(std::string_view between) {
  const std::string words = FoldWords(between);
  return words.empty() ? between.size() <= 3 && between.find('.') == kNowhere
                       : IsPhrase(words, Reading::kJoint) ||
                             // "$12$ (or maybe $13$)"
                             (words.starts_with("or ") &&
                              IsPhrase(std::string_view(words).substr(3),
                                       Reading::kMaybe));
}

bool EndsProof(std::string_view formula) {
  for (const std::string_view mark :
       {"\\blacksquare", "\\square", "\\Box", "\\qed", "\\checkmark",
        "\\text{QED}", "\\Diamond", "\\bigstar", "QED"}) {
    if (TrimBlanks(formula) == mark) return true;
  }
  // The exponent of a unit, "cm$^2$", is not a separate formula either.
  return formula.starts_with("^");
}

bool JoinedByWords(std::string_view text, const std::vector<Span>& spans) {
  for (size_t i = 1; i < spans.size(); ++i) {
    const size_t from = spans[i - 1].outer_end;
    const std::string_view between =
        text.substr(from, spans[i].outer_start - from);
    if (std::any_of(between.begin(), between.end(), Letter) &&
        !JoinsFormulas(between)) {
      return false;
    }
  }
  return true;
}

bool SolvesOthers(std::string_view text, const std::vector<Span>& formulas,
                  size_t first) {
  const auto inside = [text](const Span& f) {
    return TrimBlanks(text.substr(f.start, f.end - f.start));
  };
  const std::string_view last = inside(formulas.back());
  const size_t equal = last.find('=');
  const std::string_view name = WithoutMarks(last.substr(0, equal));
  if (equal == kNowhere || name.size() != 1 || !Letter(name[0])) return false;
  for (size_t i = first; i + 1 < formulas.size(); ++i) {
    const std::string_view other = inside(formulas[i]);
    const std::string_view left = other.substr(0, other.find('='));
    if (left.size() == other.size() || left.find(name[0]) == kNowhere ||
        left.find_first_of("+-*/^0123456789") == kNowhere) {
      return false;
    }
  }
  return first + 1 < formulas.size();
}

size_t LastGroupStart(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view)) {
  size_t first = spans.size() - 1;
  while (first > 0 && joins(text.substr(spans[first - 1].outer_end,
                                        spans[first].outer_start -
                                            spans[first - 1].outer_end))) {
    --first;
  }
  return first;
}

std::string LastGroup(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view)) {
  std::string out;
  const size_t first = LastGroupStart(text, spans, joins);
  for (size_t i = first; i < spans.size(); ++i) {
    if (i > first) out += " , ";
    out += text.substr(spans[i].start, spans[i].end - spans[i].start);
  }
  return out;
}

}  // namespace espalier
