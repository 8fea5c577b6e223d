#include "datasets/answers/notation/lexer.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// Plain words that are commands: names of mathematics and of programs, and the
// words of the table of phrases.
const std::unordered_map<std::string_view, std::string_view>& PlainCommands() {
  static const auto* const kWords = [] {
    auto* words = new std::unordered_map<std::string_view, std::string_view>{
        {"sqrt", "sqrt"},
        {"cbrt", "cbrt"},
        {"pi", "pi"},
        {"Pi", "pi"},
        {"inf", "infty"},
        {"infty", "infty"},
        {"oo", "infty"},
        {"sin", "sin"},
        {"cos", "cos"},
        {"tan", "tan"},
        {"cot", "cot"},
        {"sec", "sec"},
        {"csc", "csc"},
        {"arcsin", "arcsin"},
        {"arccos", "arccos"},
        {"arctan", "arctan"},
        {"asin", "arcsin"},
        {"acos", "arccos"},
        {"atan", "arctan"},
        {"sinh", "sinh"},
        {"cosh", "cosh"},
        {"tanh", "tanh"},
        {"log", "log"},
        {"ln", "ln"},
        {"lg", "lg"},
        {"exp", "exp"},
        {"abs", "abs"},
        {"floor", "floor"},
        {"ceil", "ceil"},
        {"min", "min"},
        {"max", "max"},
        {"gcd", "gcd"},
        {"lcm", "lcm"},
        {"mod", "mod"},
        {"cup", "cup"},
        {"cap", "cap"},
        {"theta", "theta"},
        {"alpha", "alpha"},
        {"beta", "beta"},
        {"gamma", "gamma"},
        {"delta", "delta"},
        {"lambda", "lambda"},
        {"sigma", "sigma"},
        {"omega", "omega"},
        {"phi", "phi"},
        {"factorial", "factorial"},
        {"arsinh", "arsinh"},
        {"arcosh", "arcosh"},
        {"artanh", "artanh"},
        {"arccosh", "arcosh"},
        {"arcsinh", "arsinh"},
        {"arctanh", "artanh"},
        {"arccot", "arccot"},
        {"arcsec", "arcsec"},
        {"arccsc", "arccsc"},
        {"sgn", "sgn"},
        {"cis", "cis"},
        {"binomial", "binomial"},
        {"Rational", "Rational"},
        {"Fraction", "Rational"},
        {"Integer", "Integer"},
        {"Abs", "abs"},
        {"Matrix", "Matrix"},
        {"FiniteSet", "FiniteSet"},
        {"Interval", "Interval"},
        {"EmptySet", "emptyset"},
        {"Union", "Union"},
        {"Tuple", "Tuple"}};
    for (const Phrase& word : Rows(Reading::kCommand)) {
      words->emplace(word.pattern, word.meaning);
    }
    return words;
  }();
  return *kWords;
}

// Words of grammar, in lower case, upper case or capitalized.
bool GrammarWord(std::string_view word) {
  std::string lower;
  bool upper = true, rest_lower = true;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool big = std::isupper(static_cast<unsigned char>(word[i])) != 0;
    upper &= big;
    rest_lower &= i == 0 || !big;
    lower +=
        static_cast<char>(std::tolower(static_cast<unsigned char>(word[i])));
  }
  return (upper || rest_lower) && IsPhrase(lower, Reading::kFunction);
}

class Lexer {
 public:
  Lexer(std::string_view text, const LexOptions& options)
      : text_(text), options_(options) {}

  std::vector<Token> Run() {
    while (at_ < text_.size() && out_.size() <= kMostTokens) Next();
    if (out_.size() > kMostTokens) return {};
    return std::move(out_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Ahead(std::string_view what) const {
    return text_.compare(at_, what.size(), what) == 0;
  }

  void Push(TokenKind kind, std::string_view text) {
    out_.push_back({kind, std::string(text), space_});
    space_ = false;
  }

  void Next() {
    const char c = Peek();
    if (c == ' ') {
      space_ = true;
      ++at_;
    } else if (Digit(c) || (c == '.' && Digit(Peek(1)))) {
      ReadNumber();
    } else if (c == '\\') {
      ReadCommand();
    } else if (Letter(c)) {
      ReadWord();
    } else if (static_cast<uint8_t>(c) >= 0x80) {
      if (CircledDigit(0)) {
        // Circled "(1)(2)" number statements: a list.
        Push(TokenKind::kText, text_.substr(at_, 3));
        at_ += 3;
        if (CircledDigit(0)) Push(TokenKind::kSign, ",");
        return;
      }
      const size_t start = at_;
      while (static_cast<uint8_t>(Peek()) >= 0x80 && !CircledDigit(0)) ++at_;
      Push(TokenKind::kText, FoldWords(text_.substr(start, at_ - start)));
    } else {
      ReadSign();
    }
  }

  // One of the signs U+2460 to U+2473.
  bool CircledDigit(size_t ahead) const {
    return Peek(ahead) == '\xe2' && Peek(ahead + 1) == '\x91' &&
           static_cast<uint8_t>(Peek(ahead + 2)) >= 0xa0 &&
           static_cast<uint8_t>(Peek(ahead + 2)) <= 0xb3;
  }

  // Exactly three digits at `from`.
  bool Three(size_t from) const {
    return Digit(Peek(from)) && Digit(Peek(from + 1)) &&
           Digit(Peek(from + 2)) && !Digit(Peek(from + 3));
  }

  // Whether the current sign separates thousands.
  bool Groups(size_t leading) const {
    if (leading == 0 || leading > 3) return false;
    const char c = Peek();
    if (c == ',') {
      if (depth_ > 0 ? !options_.thousands_in_brackets
                     : options_.commas_part_items) {
        return false;
      }
      return Three(1);
    }
    // "\\log_2 256"
    const bool index =
        !out_.empty() && (out_.back().text == "_" || out_.back().text == "^");
    return !index && (c == ' ' || c == '\'' || c == '_') && Three(1) &&
           !(Peek(4) == '/' && Digit(Peek(5)));
  }

  void ReadDigits(std::string& out) {
    while (Digit(Peek())) out += text_[at_++];
  }

  // "\overline{36}", "\dot{3}", "(36)" or "..." behind decimals.
  void ReadRepeating(std::string& digits) {
    // "\\dot{1}4285\\dot{7}": dots over the first and the last digit.
    size_t dotted = 0, last = 0;
    std::string period;
    for (size_t end = at_; end < text_.size() && period.size() < 18;) {
      if (text_.compare(end, 5, "\\dot{") == 0 && end + 6 < text_.size() &&
          Digit(text_[end + 5]) && text_[end + 6] == '}') {
        period += text_[end + 5];
        end += 7;
        last = end;
        if (++dotted == 2) break;
      } else if (dotted == 1 && Digit(text_[end])) {
        period += text_[end++];
      } else {
        break;
      }
    }
    if (dotted == 2) {
      digits += "(" + period + ")";
      at_ = last;
      return;
    }
    for (const std::string_view mark :
         {"\\overline{", "\\bar{", "\\dot{", "\\overline ", "("}) {
      if (!Ahead(mark)) continue;
      size_t end = at_ + mark.size();
      while (end < text_.size() && Digit(text_[end])) ++end;
      const size_t n = end - at_ - mark.size();
      const char close = mark == "(" ? ')' : '}';
      if (n == 0 || n > 18) return;
      if (mark.back() != ' ') {
        if (end >= text_.size() || text_[end] != close) return;
      }
      digits += "(";
      digits += text_.substr(at_ + mark.size(), n);
      digits += ")";
      at_ = end + (mark.back() != ' ' ? 1 : 0);
      return;
    }
    for (const std::string_view mark :
         {"...", "\\ldots", "\\dots", "\\cdots"}) {
      if (!Ahead(mark)) continue;
      // 0.333... repeats the digits that occur three times at its end.
      const size_t point = digits.find('.');
      const std::string shown = digits.substr(point + 1);
      for (size_t n = 1; 2 * n <= shown.size() && n <= 6; ++n) {
        const std::string last = shown.substr(shown.size() - n);
        const size_t times = n == 1 ? 3 : 2;
        bool repeats = shown.size() >= times * n;
        for (size_t k = 1; k < times && repeats; ++k) {
          repeats = shown.compare(shown.size() - (k + 1) * n, n, last) == 0;
        }
        if (!repeats) continue;
        digits += '(';
        digits += last;
        digits += ')';
        at_ += mark.size();
        return;
      }
      at_ += mark.size();
      return;
    }
  }

  void ReadNumber() {
    std::string digits;
    ReadDigits(digits);
    bool grouped = false;
    // 0,111 has no thousands.
    const size_t leading = digits == "0" ? 0 : digits.size();
    const char separator = Peek();
    while (!digits.empty() && Peek() == separator &&
           (grouped || Groups(leading)) && Three(1)) {
      grouped = true;
      ++at_;
      ReadDigits(digits);
    }
    if (Peek() == '.' && leading > 0 && leading <= 3 && Three(1) &&
        Peek(4) == '.' && Three(5)) {
      // 1.000.000
      while (Peek() == '.' && Three(1)) {
        ++at_;
        ReadDigits(digits);
      }
    } else if (Peek() == '.' && Three(1) && Peek(4) == ',' && Digit(Peek(5)) &&
               !Three(5) && depth_ == 0) {
      // 1.234,56 as in much of Europe.
      ++at_;
      ReadDigits(digits);
      digits += '.';
      ++at_;
      ReadDigits(digits);
    } else if (Peek() == '.' && Peek(1) != '.') {
      const size_t point = at_++;
      digits += '.';
      ReadDigits(digits);
      ReadRepeating(digits);
      if (digits.back() == '.') {
        digits.pop_back();
        at_ = point + 1;
        if (digits.empty()) digits += '0';
      }
    }
    // "16th"
    for (const std::string_view ending : Phrases(Reading::kOrdinal)) {
      if (Ahead(ending) && !Letter(Peek(2)) && digits.back() != ')') at_ += 2;
    }
    if ((Peek() == 'e' || Peek() == 'E') &&
        (Digit(Peek(1)) ||
         ((Peek(1) == '-' || Peek(1) == '+') && Digit(Peek(2))))) {
      size_t end = at_ + 2;
      while (end < text_.size() && Digit(text_[end])) ++end;
      if (end >= text_.size() || !Letter(text_[end])) {
        digits += 'e';
        digits += text_.substr(at_ + 1, end - at_ - 1);
        at_ = end;
      }
    }
    Push(TokenKind::kNumber, digits);
  }

  // The content of the braces after a command; nothing if they do not close.
  bool ReadBraces(std::string_view& content) {
    size_t at = at_;
    while (at < text_.size() && text_[at] == ' ') ++at;
    if (at >= text_.size() || text_[at] != '{') return false;
    int depth = 0;
    for (size_t end = at; end < text_.size(); ++end) {
      if (text_[end] == '{') ++depth;
      if (text_[end] == '}' && --depth == 0) {
        content = text_.substr(at + 1, end - at - 1);
        at_ = end + 1;
        return true;
      }
    }
    return false;
  }

  static bool TextCommand(std::string_view name) {
    return name == "text" || name == "textbf" || name == "textit" ||
           name == "textrm" || name == "textsf" || name == "texttt" ||
           name == "mbox" || name == "hbox" || name == "mathrm" ||
           name == "mathbf" || name == "operatorname" || name == "mathit" ||
           name == "mathsf" || name == "boldsymbol" || name == "bm" ||
           name == "mathcal" || name == "textup" || name == "textnormal" ||
           name == "textsc" || name == "textsl" || name == "textmd" ||
           name == "emph" || name == "mathnormal";
  }

  // Words inside \text become a text token; the rest is mathematics in upright
  // letters and is lexed as such.
  void ReadTextContent(std::string_view content) {
    const std::string_view trimmed = TrimBlanks(content);
    if (trimmed.size() == 1 && AfterNumber() &&
        std::string_view("msghLlJWVN").find(trimmed[0]) !=
            std::string_view::npos) {
      return Push(TokenKind::kText, trimmed);
    }
    // "\\mathrm{km/h}" is one unit, and MHz is not mHz.
    if (AfterNumber()) {
      const std::string lower = Lower(trimmed);
      const Unit unit = ReadUnit(trimmed);
      const bool capitals =
          lower != trimmed && ReadUnit(lower).dimension != unit.dimension;
      const bool scaled =
          lower != trimmed && !(ReadUnit(lower).factor == unit.factor);
      if (unit.known &&
          (trimmed.find('/') != std::string_view::npos || capitals || scaled)) {
        return Push(TokenKind::kText, trimmed);
      }
    }
    // "\\text{AF3}_{16}"
    const bool digits =
        Peek() == '_' && trimmed.size() <= 12 &&
        trimmed.find_first_of("0123456789") != std::string_view::npos &&
        std::all_of(trimmed.begin(), trimmed.end(),
                    [](unsigned char c) { return std::isxdigit(c) != 0; });
    for (size_t i = 0; digits && i < trimmed.size(); ++i) {
      Push(Digit(trimmed[i]) ? TokenKind::kNumber : TokenKind::kLetter,
           trimmed.substr(i, 1));
    }
    if (digits) return;
    bool words = false;
    size_t run = 0;
    for (size_t i = 0; i <= trimmed.size(); ++i) {
      if (i < trimmed.size() && Letter(trimmed[i])) {
        ++run;
        continue;
      }
      const std::string_view word = trimmed.substr(i - run, run);
      const bool command = i > run && trimmed[i - run - 1] == '\\';
      if (run >= 2 && !(command && word == "dollar") &&
          !PlainCommands().contains(word))
        words = true;
      run = 0;
    }
    if (!words && nested_ < 4) {
      Lexer inner(trimmed, options_);
      inner.nested_ = nested_ + 1;
      inner.space_ = space_ || (!content.empty() && content.front() == ' ');
      for (Token& token : inner.Run()) out_.push_back(std::move(token));
      space_ = !content.empty() && content.back() == ' ';
      return;
    }
    // "and", "or" at either end separate items, the words between do not.
    std::string folded = FoldWords(trimmed);
    if (folded.empty()) return;
    for (const std::string_view joint : {"and ", "or "}) {
      if (!folded.starts_with(joint)) continue;
      Push(TokenKind::kCommand, joint.substr(0, joint.size() - 1));
      folded = folded.substr(joint.size());
    }
    std::string_view last;
    for (const std::string_view joint : {" and", " or"}) {
      if (folded.ends_with(joint)) last = joint.substr(1);
    }
    if (!last.empty()) folded.resize(folded.size() - last.size() - 1);
    Push(TokenKind::kText, folded);
    if (trimmed.back() == ',') Push(TokenKind::kSign, ",");
    if (!last.empty()) Push(TokenKind::kCommand, last);
  }

  void ReadCommand() {
    ++at_;
    if (Peek() == '\\') {
      ++at_;
      Push(TokenKind::kSign, "\\\\");
      return;
    }
    size_t end = at_;
    while (end < text_.size() && Letter(text_[end])) ++end;
    std::string_view name = text_.substr(at_, end - at_);
    if (name.empty()) {
      Push(TokenKind::kSign, "\\");
      return;
    }
    if (!IsKnownCommand(name)) {
      const std::string_view known = KnownCommandPrefix(name);
      if (known.size() >= 2) name = known;
    }
    at_ += name.size();
    if (name == "imath" || name == "jmath") {
      return Push(TokenKind::kLetter, name.substr(0, 1));
    }
    std::string_view content;
    if (TextCommand(name) && ReadBraces(content)) {
      const std::string inner(TrimBlanks(content));
      if ((inner == "min" || inner == "sec") && AfterNumber()) {
        return Push(TokenKind::kText, inner);
      }
      if (const auto found = PlainCommands().find(inner);
          found != PlainCommands().end()) {
        Push(TokenKind::kCommand, found->second);
      } else if (name == "operatorname") {
        Push(TokenKind::kCommand, inner.empty() ? "text" : inner);
      } else {
        ReadTextContent(content);
      }
      return;
    }
    if (name == "dots" || name == "ldots" || name == "cdots" ||
        name == "dotsc" || name == "dotsb" || name == "dotsm") {
      Push(TokenKind::kSign, "...");
      return;
    }
    if (name == "lbrace" || name == "langle") ++depth_;
    if ((name == "rbrace" || name == "rangle") && depth_ > 0) --depth_;
    Push(TokenKind::kCommand, name);
  }

  bool AfterNumber() const {
    if (out_.empty()) return false;
    const Token& last = out_.back();
    return last.kind == TokenKind::kNumber || last.text == "}" ||
           last.text == ")" || last.text == "pi" ||
           last.kind == TokenKind::kText;
  }

  // Whether the letters up to `end` are next to another word, or in front of a
  // number: "x is odd", "Tom has", "Jan 5". Products are not.
  bool AmongWords(size_t end) const {
    size_t next = end;
    while (next < text_.size() && text_[next] == ' ') ++next;
    if (next > end && next < text_.size()) {
      if (Digit(text_[next])) return true;
      if (WordFrom(next)) return true;
    }
    size_t before = at_;
    while (before > 0 && text_[before - 1] == ' ') --before;
    if (before == at_ || before == 0 || !Letter(text_[before - 1])) {
      return false;
    }
    while (before > 0 && Letter(text_[before - 1])) --before;
    return (before == 0 || text_[before - 1] != '\\') && WordFrom(before);
  }

  // "the angle is" does not name an angle as "angle ABC" does.
  bool NamesShape(std::string_view word, size_t end) const {
    if (word != "angle" && word != "triangle") return false;
    while (end < text_.size() && text_[end] == ' ') ++end;
    return end + 1 < text_.size() && text_[end] >= 'a' && text_[end] <= 'z' &&
           text_[end + 1] >= 'a' && text_[end + 1] <= 'z';
  }

  // "e^{-at}", "v_0 + at": two letters between signs, which are a product
  // although they spell a word.
  bool BetweenSigns(size_t end) const {
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.size() != 2 || at_ == 0 || IsPhrase(word, Reading::kNoProduct)) {
      return false;
    }
    const bool argument = !groups_.empty() && !groups_.back();
    const std::string_view before = argument ? "{(+-*/^" : "+-*/";
    const std::string_view behind = argument ? "})+-*/^" : "+-*/^)";
    size_t lead = at_;
    while (!argument && lead > 1 && text_[lead - 1] == ' ') --lead;
    if (lead < at_ && text_[lead - 1] != '+') return false;
    return before.find(text_[lead - 1]) != std::string_view::npos &&
           (end >= text_.size() ||
            behind.find(text_[end]) != std::string_view::npos);
  }

  // Two or more letters that are not a command, with no sign directly behind.
  bool WordFrom(size_t at) const {
    size_t end = at;
    while (end < text_.size() && Letter(text_[end])) ++end;
    if (end - at < 2 || PlainCommands().contains(text_.substr(at, end - at))) {
      return false;
    }
    return end >= text_.size() ||
           std::string_view("^_(+-*/=<>").find(text_[end]) ==
               std::string_view::npos;
  }

  void ReadWord() {
    size_t end = at_;
    bool upper = true, first_upper = std::isupper(text_[at_]) != 0;
    bool rest_lower = true;
    while (end < text_.size() && Letter(text_[end])) {
      const bool big = std::isupper(text_[end]) != 0;
      upper &= big;
      if (end > at_) rest_lower &= !big;
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    const auto push_word = [&](TokenKind kind, std::string_view text) {
      at_ = end;
      Push(kind, text);
    };
    if (word.size() >= 2) {
      const auto found = PlainCommands().find(word);
      // "foo" does not end in infinity.
      const bool rest = at_ > 0 && Letter(text_[at_ - 1]);
      if (found != PlainCommands().end() && !NamesShape(word, end) &&
          !(rest && found->second == "infty")) {
        return push_word(TokenKind::kCommand, found->second);
      }
      // "in" between a symbol and a set.
      if (word == "in" && Peek(2) == ' ' &&
          (Peek(3) == '[' || Peek(3) == '(' || Peek(3) == '{' ||
           Peek(3) == '\\')) {
        return push_word(TokenKind::kCommand, "in");
      }
      if (AfterNumber() && IsUnitWord(word)) {
        return push_word(TokenKind::kText, word);
      }
      const bool cased = rest_lower && (first_upper || !upper);
      const bool attached = at_ > 0 && Digit(text_[at_ - 1]);
      // The rest of a product: "cat" read up to "at".
      const bool begins = at_ == 0 || !Letter(text_[at_ - 1]);
      const bool joint = word.starts_with("or") || word.starts_with("and");
      const bool long_word =
          (cased && word.size() >= 4) || (upper && word.size() >= 6);
      // "24abcd" is a product.
      if (begins && ((GrammarWord(word) && !BetweenSigns(end)) ||
                     (long_word && !(attached && !joint)) || AmongWords(end))) {
        const std::string folded = FoldWords(word);
        at_ = end;
        if (!folded.empty()) Push(TokenKind::kText, folded);
        return;
      }
      // "1orW": a joining word with a letter stuck to it.
      for (const std::string_view joint : {"or", "and"}) {
        if (word.starts_with(joint) && AfterNumber()) {
          at_ += joint.size();
          Push(TokenKind::kCommand, joint);
          return;
        }
      }
      // "sqrtx", "pir" are not guessed; each letter is its own token.
    }
    Push(TokenKind::kLetter, text_.substr(at_++, 1));
  }

  // Whether braces that open here are a set's, not those of a command's
  // argument, an index or a power.
  bool BracesHoldItems() const {
    if (out_.empty()) return true;
    const Token& last = out_.back();
    if (last.kind == TokenKind::kSign) {
      return last.text != "^" && last.text != "_" && last.text != "}" &&
             last.text != "]";
    }
    return last.kind == TokenKind::kText ||
           (last.kind == TokenKind::kCommand &&
            (last.text == "in" || last.text == "cup" || last.text == "cap" ||
             last.text == "and" || last.text == "or"));
  }

  void ReadSign() {
    for (const std::string_view sign : {"...", "<=>", "==>", "<=", ">=", "!=",
                                        "==", "=>", "->", "**", "+/-"}) {
      if (!Ahead(sign)) continue;
      at_ += sign.size();
      if (sign == "+/-") return Push(TokenKind::kCommand, "pm");
      if (sign == "**") {
        // E**x in a program is e^x.
        if (!out_.empty() && out_.back().text == "E") out_.back().text = "e";
        return Push(TokenKind::kSign, "^");
      }
      return Push(TokenKind::kSign, sign);
    }
    const char c = Peek();
    if (c == '{') groups_.push_back(BracesHoldItems());
    const bool items = c == '}' && !groups_.empty() && groups_.back();
    if (c == '}' && !groups_.empty()) groups_.pop_back();
    if (c == '(' || c == '[' || (c == '{' && groups_.back())) ++depth_;
    if ((c == ')' || c == ']' || items) && depth_ > 0) --depth_;
    Push(TokenKind::kSign, text_.substr(at_++, 1));
  }

  std::string_view text_;
  const LexOptions& options_;
  size_t at_ = 0;
  int depth_ = 0;             // open brackets, and braces of sets
  std::vector<bool> groups_;  // open braces: whether they hold items
  int nested_ = 0;
  bool space_ = false;
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> Lex(std::string_view text, const LexOptions& options) {
  return Lexer(text, options).Run();
}

}  // namespace espalier
