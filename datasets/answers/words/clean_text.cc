#include "datasets/answers/words/clean_text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/unicode_math.h"

namespace espalier {
namespace {

// The LaTeX commands that are understood or deliberately ignored.
constexpr std::string_view kCommandNames =
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota "
    "kappa lambda mu nu xi pi rho sigma tau upsilon phi varphi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar angle "
    "triangle perp parallel frac dfrac tfrac cfrac sqrt cbrt binom dbinom "
    "tbinom choose over text textbf textit textrm textsf texttt mbox hbox "
    "mathrm mathbf mathbb mathcal mathit mathsf boldsymbol bm operatorname rm "
    "bf boxed fbox overline underline bar vec overrightarrow hat widehat "
    "tilde dot overset underset begin end left right middle big Big bigg Bigg "
    "bigl bigr Bigl Bigr biggl biggr Biggl Biggr times cdot ast div pm mp mod "
    "bmod pmod le leq leqslant leqq ge geq geqslant geqq ne neq lt gt in "
    "notin ni subset subseteq cup cap setminus backslash emptyset varnothing "
    "approx equiv cong sim simeq implies iff Rightarrow Leftrightarrow "
    "rightarrow longrightarrow to mapsto leftarrow infty circ degree prime "
    "ldots cdots dots dotsc dotsb dotsm quad qquad sum prod int iint oint lim "
    "partial nabla sin cos tan cot sec csc arcsin arccos arctan arccot arcsec "
    "arccsc sinh cosh tanh coth sech csch arcsinh arccosh arctanh arsinh "
    "arcosh artanh asin acos atan log ln lg exp min max gcd lcm deg det floor "
    "ceil abs sgn Re Im arg lfloor rfloor lceil rceil langle rangle lbrace "
    "rbrace lvert rvert lVert rVert vert mid colon lbrack rbrack land lor "
    "wedge vee cdotp textdegree displaystyle textstyle scriptstyle limits "
    "nolimits Leftarrow hspace vspace hfill phantom label tag euro pounds yen "
    "cents rupee dollar percent and or forall exists because therefore "
    "smallsetminus bigcup bigcap dotsi newline textup mathop star not "
    "textdollar textnormal textsc textsl textmd emph mathnormal textcelsius "
    "imath jmath";

using WordSet = std::unordered_set<std::string_view>;

// The blank-separated words of a text that outlives the set.
WordSet SplitNames(std::string_view text) {
  WordSet out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    out.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

const WordSet& Commands() {
  static const auto* const kCommands = new WordSet(SplitNames(kCommandNames));
  return *kCommands;
}

// Sizes, styles and the like, which change no meaning.
bool Decoration(std::string_view name) {
  static const auto* const kNames = new WordSet(SplitNames(
      "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl "
      "biggr Biggl Biggr displaystyle textstyle scriptstyle limits "
      "nolimits hfill rm bf it tt sf noindent mathop newline therefore"));
  return kNames->contains(name);
}

std::string_view CommandAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && Letter(text[end])) ++end;
  return text.substr(at, end - at);
}

// True if, ignoring blanks, exactly three digits come next.
bool ThousandsFollow(std::string_view text, size_t at) {
  while (at < text.size() && Blank(text[at])) ++at;
  size_t digits = 0;
  while (at + digits < text.size() && Digit(text[at + digits])) {
    ++digits;
  }
  return digits == 3;
}

// "12, " -> "12,"
void DropBlanksAfterComma(std::string& out) {
  size_t end = out.size();
  while (end > 0 && out[end - 1] == ' ') --end;
  if (end >= 2 && out[end - 1] == ',' && Digit(out[end - 2])) {
    out.resize(end);
  }
}

// Copies "\name" and its arguments; `at` is behind the backslash.
void CleanCommand(std::string_view text, size_t& at, std::string& out) {
  const std::string_view name = CommandAt(text, at);
  if (Decoration(name)) {
    at += name.size();
    const bool fence = name == "left" || name == "right" || name == "middle" ||
                       name.starts_with("big") || name.starts_with("Big");
    while (fence && at < text.size() && Blank(text[at])) ++at;
    if (fence && at < text.size() && text[at] == '.') ++at;
    if (out.empty() || !Blank(out.back())) out += ' ';
    return;
  }
  if (name == "nicefrac" || name == "sfrac" || name == "flatfrac") {
    out += "\\frac";
    at += name.size();
    return;
  }
  if ((name == "color" || name == "textcolor") &&
      at + name.size() < text.size() && text[at + name.size()] == '{') {
    // Keeps the coloured content.
    const size_t close = text.find('}', at);
    at = close == std::string_view::npos ? text.size() : close + 1;
    return;
  }
  if (name == "quad" || name == "qquad" ||
      (KnownCommandPrefix(name).ends_with("quad") && !IsKnownCommand(name))) {
    out += "  ";
    at += name.starts_with("qq") ? 5 : 4;
    return;
  }
  if (name.ends_with("dots") && name.size() <= 6) {
    out += "...";
    at += name.size();
    return;
  }
  if (name == "hspace" || name == "vspace" || name == "label" ||
      name == "tag" || name == "phantom") {
    at += name.size();
    if (at < text.size() && text[at] == '*') ++at;
    if (at < text.size() && text[at] == '{') {
      const size_t close = text.find('}', at);
      at = close == std::string_view::npos ? text.size() : close + 1;
    }
    out += ' ';
    return;
  }
  out += '\\';
  out += name;
  at += name.size();
}

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && Blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && Blank(text.back())) text.remove_suffix(1);
  return text;
}

namespace {

// The length of a colon at the begin of `text`, with the markup that keeps
// LaTeX from spacing it as a relation: "{:}", "\\!:\\!"; 0 if there is none.
size_t SpacedColon(std::string_view text) {
  for (const std::string_view colon :
       {"{:}", "\\!:\\!", "\\,:\\,", "\\mathrel{:}", "\\mathbin{:}",
        "\\mathpunct{:}", "\\colon"}) {
    if (!text.starts_with(colon)) continue;
    const size_t end = text.find_first_not_of(' ', colon.size());
    return end != kNowhere && Digit(text[end]) ? end : 0;
  }
  return 0;
}

// The place of the sign that opens the formula of a time whose other half is
// words: "at $4:30" in front of "$ PM"; npos if there is none.
size_t OpensClock(std::string_view front, std::string_view behind) {
  constexpr size_t kShortest = 4, kLongest = 5;
  const size_t open = front.rfind('$');
  if (open == kNowhere || !behind.starts_with("$ ")) return kNowhere;
  const std::string_view time = front.substr(open + 1);
  if (time.size() < kShortest || time.size() > kLongest ||
      time[time.size() - 3] != ':' ||
      time.find_first_not_of("0123456789:") != kNowhere) {
    return kNowhere;
  }
  const std::string half = Lower(behind.substr(2, 2));
  const bool says =
      half == "am" || half == "pm" || half == "a." || half == "p.";
  return says ? open : kNowhere;
}

}  // namespace

namespace {

// "and | *x* = 3": a letter in emphasis, behind a word or at the start of a
// line.
bool EmphasisedLetter(std::string_view front, std::string_view rest) {
  if (rest.size() < 3 || (rest[0] != '*' && rest[0] != '_') ||
      rest[2] != rest[0] || !Letter(rest[1])) {
    return false;
  }
  if (rest.size() > 3 &&
      std::string_view(" .,;:=\n)").find(rest[3]) == std::string_view::npos) {
    return false;
  }
  if (!front.empty() && !Blank(front.back()) && front.back() != '(') {
    return false;
  }
  front = TrimBlanks(front);
  const size_t size = front.size();
  return size == 0 ||
         std::string_view(":,;.*_(").find(front[size - 1]) !=
             std::string_view::npos ||
         (size > 1 && Letter(front[size - 1]) && Letter(front[size - 2]));
}

}  // namespace

std::string WithPlainSigns(std::string_view text) {
  constexpr std::pair<std::string_view, char> kSigns[] = {
      {"\u2212", '-'}, {"\u2018", '\''}, {"\u2019", '\''}, {"\u02bc", '\''}};
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool digit = !out.empty() && Digit(out.back());
    if (const size_t colon = digit ? SpacedColon(text.substr(at)) : 0) {
      out += ':';
      at += colon;
      continue;
    }
    const size_t clock =
        digit && text[at] == '$' ? OpensClock(out, text.substr(at)) : kNowhere;
    if (clock != kNowhere) {
      out.erase(clock, 1);
      ++at;
      continue;
    }
    if (EmphasisedLetter(out, text.substr(at))) {
      out += text[at + 1];
      at += 3;
      continue;
    }
    // All other signs are of more than one byte.
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      out += text[at++];
      continue;
    }
    const std::string_view rest = text.substr(at);
    const auto* const sign = std::find_if(
        std::begin(kSigns), std::end(kSigns),
        [rest](const auto& known) { return rest.starts_with(known.first); });
    out += sign == std::end(kSigns) ? text[at] : sign->second;
    at += sign == std::end(kSigns) ? 1 : sign->first.size();
  }
  return out;
}

bool IsKnownCommand(std::string_view name) { return Commands().contains(name); }

std::string_view KnownCommandPrefix(std::string_view name) {
  for (size_t n = std::min<size_t>(name.size(), 16); n >= 2; --n) {
    if (Commands().contains(name.substr(0, n))) return name.substr(0, n);
  }
  return {};
}

namespace {

// The length of "{,}" at `at`, including blanks inside and behind it.
size_t BracedComma(std::string_view text, size_t at) {
  size_t end = at + 1;
  const auto skip = [&] {
    while (end < text.size() && Blank(text[end])) ++end;
  };
  skip();
  if (end >= text.size() || text[end] != ',') return 0;
  ++end;
  skip();
  if (end >= text.size() || text[end] != '}') return 0;
  ++end;
  skip();
  return end - at;
}

}  // namespace

size_t LineSkip(std::string_view text) {
  const size_t star = text.starts_with("*") ? 1 : 0;
  const size_t open = std::min(text.find_first_not_of(' ', star), text.size());
  if (!text.substr(open).starts_with("[")) return 0;
  size_t at = text.find_first_not_of("0123456789.-", open + 1);
  if (at == std::string_view::npos || at == open + 1) return 0;
  while (at < text.size() && Blank(text[at])) ++at;
  for (const std::string_view unit :
       {"pt", "em", "ex", "mm", "cm", "in", "pc", "bp"}) {
    if (text.substr(at).starts_with(unit) && text.substr(at + 2, 1) == "]") {
      return at + 3;
    }
  }
  return 0;
}

std::string CleanMath(std::string_view raw) {
  const std::string text = AsciiMath(raw);
  std::string out;
  out.reserve(text.size() + 8);
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (const size_t comma = c == '{' ? BracedComma(text, at) : 0; comma > 0) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += ',';
      at += comma;
    } else if (c == '\f' && text.compare(at, 4, "\frac") == 0) {
      // "\f" that a JSON writer left unescaped.
      out += "\\frac";
      at += 4;
    } else if (c != '\\') {
      out += Blank(c) ? ' ' : c == '~' && !out.empty() ? ' ' : c;
      ++at;
    } else if (next == '\\') {
      // Two backslashes before a known command are one, escaped twice.
      const std::string_view name = CommandAt(text, at + 2);
      const char after = at + 2 < text.size() ? text[at + 2] : '\0';
      if (name.size() >= 2 && IsKnownCommand(name)) {
        at += 2;
        CleanCommand(text, at, out);
      } else if (after == '{' || after == '}' || after == '%' || after == '$' ||
                 after == '(' || after == ')') {
        ++at;
      } else {
        out += "\\\\";
        at += 2 + LineSkip(text.substr(at + 2));
      }
    } else if (Letter(next)) {
      ++at;
      CleanCommand(text, at, out);
    } else {
      at += 2;
      switch (next) {
        case '!':
          // "12,\\! 345", "12, \\! 345": drop the blanks too.
          if (ThousandsFollow(text, at)) DropBlanksAfterComma(out);
          while (at < text.size() && Blank(text[at]) && !out.empty() &&
                 (out.back() == ',' || out.back() == ' ')) {
            ++at;
          }
          break;
        case ',':
        case ':':
        case ';':
        case '>':
        case ' ':
        case '\n':
        case '\t':
        case '/':
          out += ' ';
          break;
        case '$':
          out += "\\dollar ";
          break;
        case '{':
          out += "\\lbrace ";
          break;
        case '}':
          out += "\\rbrace ";
          break;
        case '|':
          out += "|";
          break;
        case '(':
        case ')':
        case '[':
        case ']':
          out += ' ';
          break;
        case '\0':
          break;
        default:
          out += next;
      }
    }
  }
  return out;
}

std::string FoldWords(std::string_view raw) {
  const std::string text = CleanMath(raw);
  std::string out;
  const auto end_word = [&out] {
    size_t start = out.rfind(' ');
    start = start == std::string::npos ? 0 : start + 1;
    const std::string_view word = std::string_view(out).substr(start);
    if (word == "the" || word == "a" || word == "an") out.resize(start);
    if (!out.empty() && out.back() != ' ') out += ' ';
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      const std::string_view name = CommandAt(text, at + 1);
      at += name.size();
      const bool markup = name.starts_with("text") || name == "mbox" ||
                          name == "mathrm" || name == "boxed" ||
                          name == "operatorname" || name == "mathbf";
      if (!markup) out += name;
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               static_cast<uint8_t>(c) >= 0x80) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if ((c == '-' || c == '.') && at + 1 < text.size() &&
               std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0) {
      out += c;
    } else if (Blank(c) || c == '-' || c == ',' || c == '/') {
      end_word();
    } else if (c == '+' || c == '=' || c == '<' || c == '>' || c == '^' ||
               c == ':') {
      out += c;
    }
  }
  end_word();
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace espalier
