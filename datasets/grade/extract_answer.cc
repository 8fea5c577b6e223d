#include "datasets/grade/extract_answer.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/phrases.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;
// An answer of formulas and words that is no response.
constexpr size_t kLongestLine = 200;
// Behind "the answer is".
constexpr size_t kLongestAnswer = 20000;

// A part of a text: [start, end), and where the whole of it ends, delimiters
// included.
struct Span {
  size_t start = 0, end = 0;
  size_t outer_start = 0, outer_end = 0;
  bool open = false;  // never closed
};

// Contents of all \boxed{...} in order. One that never closes reaches to the
// end of its line.
std::vector<Span> Boxes(std::string_view text) {
  std::vector<Span> out;
  // Boxes that never close would each be looked for up to the end.
  size_t budget = 4 * text.size() + 1000;
  for (const std::string_view mark : {"\\boxed", "\\fbox"}) {
    size_t at = 0;
    while ((at = text.find(mark, at)) != kNone) {
      size_t open = at + mark.size();
      while (open < text.size() && text[open] == ' ') ++open;
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

// Whether what stands between two dollar signs is a sentence: "$5 an hour
// for three hours, or $".
bool IsProse(std::string_view between) {
  int words = 0, depth = 0;
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
    run = 0;
    if (c == '{') ++depth;
    if (c == '}') --depth;
  }
  if (words >= 2) return true;
  // "$40 - $25 = $15"
  between = TrimBlanks(between);
  while (between.ends_with("\\,") || between.ends_with("\\;")) {
    between = TrimBlanks(between.substr(0, between.size() - 2));
  }
  return !between.empty() &&
         (std::string_view("+-*/=").find(between.back()) != kNone ||
          between.ends_with("\u2212") || between.ends_with("\u2013") ||
          between.ends_with("\u00d7"));
}

// Formulas between $ $, $$ $$, \( \), \[ \], in order.
std::vector<Span> Formulas(std::string_view text) {
  std::vector<Span> out;
  // Closing signs of which none is left.
  std::vector<std::string_view> gone;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string_view close;
    size_t open = 0;
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
    while ((end = text.find(close, end)) != kNone && text[end - 1] == '\\' &&
           close[0] == '$') {
      ++end;
    }
    if (end == kNone) {
      gone.push_back(close);
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

// Whether words between two answers only join them.
bool Joins(std::string_view between, size_t longest) {
  if (between.size() > longest) return false;
  const std::string words = FoldWords(between);
  const bool listed =
      words.find("and") != std::string::npos || between.find(',') != kNone;
  return between.find("\n\n") == kNone && between.find(". ") == kNone &&
         between.find(".\n") == kNone &&
         (listed || between.find('=') == kNone) &&
         std::count(words.begin(), words.end(), ' ') < 3;
}

bool JoinsFormulas(std::string_view between) {
  const std::string words = FoldWords(between);
  return words.empty() ? between.size() <= 3 && between.find('.') == kNone
                       : words == "and" || words == "or";
}

// Where the last spans begin that are joined.
template <typename JoinRule>
size_t LastGroupStart(std::string_view text, const std::vector<Span>& spans,
                      JoinRule joins) {
  size_t first = spans.size() - 1;
  while (first > 0 && joins(text.substr(spans[first - 1].outer_end,
                                        spans[first].outer_start -
                                            spans[first - 1].outer_end))) {
    --first;
  }
  return first;
}

// The last spans that are joined, separated by commas.
template <typename JoinRule>
std::string LastGroup(std::string_view text, const std::vector<Span>& spans,
                      JoinRule joins) {
  std::string out;
  const size_t first = LastGroupStart(text, spans, joins);
  for (size_t i = first; i < spans.size(); ++i) {
    if (i > first) out += " , ";
    out += text.substr(spans[i].start, spans[i].end - spans[i].start);
  }
  return out;
}

// Behind a formula: "%", "pct" or a word for a unit, up to the full stop.
std::string UnitBehind(std::string_view text) {
  const size_t end = std::min(text.find_first_of(".,;\n$\\"), text.size());
  const std::string_view words = TrimBlanks(text.substr(0, end));
  const std::string lower = Lower(words);
  if (words.starts_with("%")) return "%";
  for (const std::string_view sign : {"pct", "percent"}) {
    if (lower.starts_with(sign)) return " percent";
  }
  return {};
}

// "is $7$, attained at $x = 2$": how many of the formulas are left when what
// only explains the answer goes.
size_t WithoutExplanation(std::string_view text,
                          const std::vector<Span>& formulas) {
  for (size_t i = formulas.size() - 1; i > 0; --i) {
    const std::string between =
        Lower(text.substr(formulas[i - 1].outer_end,
                          formulas[i].outer_start - formulas[i - 1].outer_end));
    if (between.size() > 80 || between.find('.') != kNone ||
        between.find('\n') != kNone) {
      break;
    }
    bool explains = false;
    for (const std::string_view word : Phrases(Reading::kExplains)) {
      explains |= between.find(word) != kNone;
    }
    const std::string before = Lower(text.substr(
        i > 1 ? formulas[i - 2].outer_end : 0,
        formulas[i - 1].outer_start - (i > 1 ? formulas[i - 2].outer_end : 0)));
    const std::string_view lead = TrimBlanks(before);
    const bool stated = lead.ends_with(" is") || lead.ends_with(" are") ||
                        lead.ends_with(" equals") || lead == "is";
    if (explains && stated) return i;
  }
  return formulas.size();
}

// Whether the last group is one of several, and no verb says that it is the
// answer: "$2$ for even $n$, $3$ for odd $n$".
bool PicksOne(std::string_view text, const std::vector<Span>& formulas) {
  const size_t first = LastGroupStart(text, formulas, JoinsFormulas);
  if (first == 0) return false;
  const std::string_view lead =
      TrimBlanks(text.substr(0, formulas[first].outer_start));
  return EndsIn(lead, Reading::kStates) == 0;
}

std::string FormulaGroup(std::string_view text,
                         const std::vector<Span>& formulas) {
  return LastGroup(text, formulas, JoinsFormulas) +
         UnitBehind(text.substr(formulas.back().outer_end));
}

// The last place of any of the marks, at the start of a word.
size_t LastOf(std::string_view lower,
              const std::vector<std::string_view>& marks, size_t* length) {
  size_t best = kNone;
  for (const std::string_view mark : marks) {
    size_t at = lower.rfind(mark);
    if (at != kNone && at > 0 && Letter(mark[0]) && Letter(lower[at - 1])) {
      at = kNone;
    }
    if (at == kNone || (best != kNone && at <= best)) continue;
    best = at;
    *length = mark.size();
  }
  return best;
}

// What a phrase such as "final answer is" introduces.
std::string AfterPhrase(std::string_view text) {
  const auto skip = [&text] {
    while (!text.empty() &&
           (Blank(text[0]) || text[0] == ':' || text[0] == '*' ||
            text[0] == '#' || text[0] == '=')) {
      text.remove_prefix(1);
    }
    // A full-width colon.
    if (text.starts_with("\uff1a")) text.remove_prefix(3);
  };
  skip();
  for (const std::string_view word : Phrases(Reading::kLeadsOn)) {
    if (text.starts_with(word)) {
      text.remove_prefix(word.size() - 1);
      skip();
    }
  }
  // "is", "becomes" in Chinese.
  for (const std::string_view word : Phrases(Reading::kIsInChinese)) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    skip();
  }
  // To the end of the line or sentence; formulas are not cut.
  text = text.substr(0, kLongestAnswer);
  const std::vector<Span> formulas = Formulas(text);
  size_t end = text.size(), next = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (next < formulas.size() && formulas[next].outer_start <= at) {
      at = formulas[next++].outer_end - 1;
      continue;
    }
    const bool stop = text[at] == '.' && at + 2 < text.size() &&
                      Blank(text[at + 1]) &&
                      (std::isupper(text[at + 2]) != 0 || text[at + 2] == '<');
    if (text[at] == '\n' || stop || text.substr(at).starts_with("<|") ||
        text.substr(at).starts_with("\u3002")) {
      end = at;
      break;
    }
  }
  text = text.substr(0, end);
  std::vector<Span> inside;
  for (const Span& f : formulas) {
    if (f.outer_end <= text.size()) inside.push_back(f);
  }
  if (inside.empty()) {
    const std::string words = Lower(text);
    for (const std::string_view reason : Phrases(Reading::kReason)) {
      text = text.substr(0, std::min(words.find(reason), text.size()));
    }
    return std::string(text);
  }
  // "The volume of $ABC$ is 120": what stands behind the verb.
  const std::string_view tail = text.substr(inside.back().outer_end);
  for (const std::string_view verb : Phrases(Reading::kSays)) {
    if (!tail.starts_with(verb)) continue;
    if (LastNumberOf(tail)) return std::string(tail.substr(verb.size()));
  }
  // The first group of formulas is the answer, what follows explains it.
  size_t last = 0;
  while (last + 1 < inside.size() &&
         JoinsFormulas(text.substr(
             inside[last].outer_end,
             inside[last + 1].outer_start - inside[last].outer_end))) {
    ++last;
  }
  const std::string before = FoldWords(text.substr(0, inside[0].outer_start));
  if (before.find(' ') != kNone && inside[0].outer_start > 60) {
    return std::string(text);
  }
  inside.resize(last + 1);
  return FormulaGroup(text, inside);
}

// A line with the signs around its formulas gone.
std::string WithoutDelimiters(std::string_view line,
                              const std::vector<Span>& formulas,
                              std::string_view text) {
  std::string out;
  size_t at = static_cast<size_t>(line.data() - text.data());
  const size_t end = at + line.size();
  for (const Span& f : formulas) {
    out += text.substr(at, f.outer_start - at);
    out += text.substr(f.start, f.end - f.start);
    at = f.outer_end;
  }
  if (at < end) out += text.substr(at, end - at);
  return out;
}

// The content of a last fenced block, if it is one line.
std::optional<std::string> LastFence(std::string_view text) {
  const size_t close = text.rfind("```");
  if (close == kNone || close == 0) return std::nullopt;
  if (!TrimBlanks(text.substr(close + 3)).empty()) return std::nullopt;
  const size_t open = text.rfind("```", close - 1);
  if (open == kNone) return std::nullopt;
  std::string_view content = text.substr(open + 3, close - open - 3);
  // A language's name stands on the first line.
  const size_t line = content.find('\n');
  if (line == kNone) return std::nullopt;
  content = TrimBlanks(content.substr(line));
  if (content.empty() || content.find('\n') != kNone) return std::nullopt;
  return std::string(content);
}

// The text between the brace at `open` and the one that closes it.
std::optional<std::string> InBraces(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // whatever it is, it is no brace
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return std::string(text.substr(open + 1, i - open - 1));
    }
  }
  return std::nullopt;
}

// "$x^2 = 4$, so $x = 2$": formulas of which the last one is the answer.
bool Concludes(std::string_view lower) {
  for (const std::string_view word : Phrases(Reading::kConcludes)) {
    if (lower.find(word) != kNone) return true;
  }
  return false;
}

// A part of something longer.
Extracted Part(std::string text) {
  Extracted out;
  out.text = std::move(text);
  out.cut = true;
  return out;
}

// The part of a long response that may hold its answer.
std::string_view Window(std::string_view text) {
  if (text.size() <= kLongestResponse) return text;
  std::string_view end = text.substr(text.size() - kLongestResponse);
  // No half of a UTF-8 character at the cut.
  while (!end.empty() && (end[0] & 0xc0) == 0x80) end.remove_prefix(1);
  const size_t box = text.rfind("\\boxed");
  if (box == kNone || box >= text.size() - kLongestResponse) return end;
  return text.substr(box, kLongestResponse);
}

// What follows the thoughts.
std::string_view WithoutThoughts(std::string_view text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const size_t close = text.rfind(kClose);
  if (close != kNone) return text.substr(close + kClose.size());
  return TrimBlanks(text).starts_with(kOpen) ? std::string_view() : text;
}

}  // namespace

std::optional<std::string> LastBoxed(std::string_view text) {
  constexpr std::string_view kMark = "\\boxed";
  size_t at = text.rfind(kMark);
  while (at != kNone) {
    const size_t open = text.find_first_not_of(' ', at + kMark.size());
    if (open != kNone && text[open] == '{') {
      if (auto found = InBraces(text, open)) return found;
    }
    text = text.substr(0, at);  // so that all of it is looked at only once
    at = text.rfind(kMark);
  }
  return std::nullopt;
}

std::string StripDelimiters(std::string_view text) {
  for (int i = 0; i < 8; ++i) {
    const size_t before = text.size();
    text = TrimBlanks(text);
    const auto strip = [&text](std::string_view open, std::string_view close) {
      if (text.size() >= open.size() + close.size() + 1 &&
          text.starts_with(open) && text.ends_with(close)) {
        text =
            text.substr(open.size(), text.size() - open.size() - close.size());
      }
    };
    if (text.ends_with(".") && !text.ends_with("..")) text.remove_suffix(1);
    while (text.ends_with(",") || text.ends_with(";") || text.ends_with(":")) {
      text.remove_suffix(1);
    }
    strip("$$", "$$");
    if (std::count(text.begin(), text.end(), '$') == 2) strip("$", "$");
    strip("\\[", "\\]");
    strip("\\(", "\\)");
    strip("**", "**");
    strip("__", "__");
    // A heading.
    while (text.starts_with("# ") || text.starts_with("##")) {
      text.remove_prefix(1);
    }
    while (text.ends_with("**") && !text.starts_with("**")) {
      text.remove_suffix(2);
    }
    strip("`", "`");
    strip("\\\"", "\\\"");
    strip("\"", "\"");
    if (text.size() == before) break;
  }
  std::string out(text);
  // "$12$ and $13$" inside a box: formulas in text.
  const auto dollars = std::count(out.begin(), out.end(), '$') - [&out] {
    size_t n = 0;
    for (size_t i = 1; i < out.size(); ++i) {
      n += out[i] == '$' && out[i - 1] == '\\';
    }
    return static_cast<std::ptrdiff_t>(n);
  }();
  if (dollars >= 2) {
    std::string plain;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] != '$' || (i > 0 && out[i - 1] == '\\')) plain += out[i];
    }
    out = std::move(plain);
  } else if (dollars == 1 && out.find('$') != 0 &&
             (out.find('\\') != kNone || out.back() != '$')) {
    // A formula that was never closed or opened.
    out.erase(out.find('$'), 1);
  }
  return out;
}

std::optional<std::string> LastNumberOf(std::string_view text) {
  auto place = LastNumberPlace(text);
  if (!place) return std::nullopt;
  return std::move(place->text);
}

std::optional<NumberPlace> LastNumberPlace(std::string_view text) {
  for (size_t end = text.size(); end > 0; --end) {
    if (!Digit(text[end - 1])) continue;
    const bool word_after =
        end < text.size() && Letter(text[end]) &&
        (end + 1 < text.size() && std::isupper(text[end]) != 0);
    size_t start = end;
    while (start > 0) {
      const char c = text[start - 1];
      const bool joint = (c == '.' || c == ',' || c == '/') && start >= 2 &&
                         Digit(text[start - 2]) && start < text.size() &&
                         Digit(text[start]);
      if (!Digit(c) && !joint) break;
      --start;
    }
    const char before = start > 0 ? text[start - 1] : ' ';
    if (Letter(before) || before == '_' || before == '^' || word_after) {
      end = start + 1;
      continue;
    }
    if (before == '.' && (start < 2 || !Digit(text[start - 2]))) --start;
    size_t sign = start;
    if (sign > 0 && text[sign - 1] == '$') --sign;
    if (sign > 0 && text[sign - 1] == '-' &&
        (sign < 2 || Blank(text[sign - 2]) || text[sign - 2] == '(' ||
         text[sign - 2] == '=' || text[sign - 2] == '$')) {
      start = sign - 1;
    }
    std::string out(text.substr(start, end - start));
    const std::string_view rest = text.substr(end);
    if (rest.starts_with("%") || rest.starts_with("\\%") ||
        rest.starts_with(" percent")) {
      out += "%";
    }
    for (const std::string_view scale :
         {" thousand", " million", " billion", " trillion", " dozen"}) {
      if (rest.starts_with(scale)) out += scale;
    }
    return NumberPlace{std::move(out), start, end};
  }
  return std::nullopt;
}

Extracted ExtractAnswer(std::string_view response) {
  const std::string_view said = WithoutThoughts(response);
  std::string_view text = Window(said);
  if (const size_t end = text.find("<|im_"); end != kNone && end > 0) {
    text = text.substr(0, end);
  }
  const std::string lower = Lower(text);
  size_t length = 0;
  const std::vector<Span> boxes = Boxes(text);
  size_t phrase = boxes.empty()
                      ? LastOf(lower, {"final answer", "####"}, &length)
                      : LastOf(lower, {"final answer"}, &length);
  // "the final answer is $5$. I hope" cut off by its limit says nothing.
  if (phrase != kNone &&
      StripDelimiters(AfterPhrase(text.substr(phrase + length))).empty()) {
    phrase = kNone;
  }
  if (!boxes.empty() && (phrase == kNone || boxes.back().start > phrase)) {
    const std::string joined =
        LastGroup(text, boxes,
                  [](std::string_view between) { return Joins(between, 40); });
    // "\boxed{28}$ pct"
    std::string_view behind = text.substr(boxes.back().outer_end);
    while (!behind.empty() && (Blank(behind[0]) || behind[0] == '$' ||
                               behind.starts_with("\\)"))) {
      behind.remove_prefix(behind[0] == '\\' ? 2 : 1);
    }
    Extracted out = Part(StripDelimiters(joined) + UnitBehind(behind));
    out.open = boxes.back().open;
    return out;
  }
  if (phrase != kNone) {
    return Part(StripDelimiters(AfterPhrase(text.substr(phrase + length))));
  }
  phrase = LastOf(lower, Phrases(Reading::kAnswer), &length);
  if (phrase != kNone) {
    const std::string found =
        StripDelimiters(AfterPhrase(text.substr(phrase + length)));
    if (!found.empty()) return Part(found);
  }
  std::vector<Span> formulas = Formulas(text);
  // A last sentence with a number of its own, after the formulas, concludes.
  if (!formulas.empty()) {
    std::string_view tail = text.substr(formulas.back().outer_end);
    if (const size_t stop = tail.find(". "); stop != kNone && stop < 40) {
      tail = tail.substr(stop + 2);
    }
    const std::string words = FoldWords(tail.substr(0, 400));
    if (std::count(words.begin(), words.end(), ' ') >= 4 &&
        LastNumberOf(tail)) {
      return Part(std::string(TrimBlanks(tail)));
    }
    const size_t stated = WithoutExplanation(text, formulas);
    if (stated < formulas.size()) {
      formulas.resize(stated);
      return Part(StripDelimiters(FormulaGroup(text, formulas)));
    }
    const std::string joined = FormulaGroup(text, formulas);
    const bool whole = formulas.size() == 1 &&
                       formulas[0].outer_end - formulas[0].outer_start + 1 >=
                           TrimBlanks(text).size();
    Extracted out = Part(StripDelimiters(joined));
    out.cut = !whole;
    out.picked = PicksOne(text, formulas);
    if (!whole && text.size() <= kLongestLine && !Concludes(lower) &&
        formulas[0].outer_start ==
            static_cast<size_t>(TrimBlanks(text).data() - text.data())) {
      out.line = WithoutDelimiters(TrimBlanks(text), formulas, text);
    }
    return out;
  }
  if (const auto fence = LastFence(text)) {
    return Part(StripDelimiters(*fence));
  }
  Extracted out;
  out.text = StripDelimiters(text);
  out.open = said.size() > kLongestResponse;
  return out;
}

}  // namespace espalier
