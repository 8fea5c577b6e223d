#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/notation/parser_state.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsWhole(const ExprNode& e) {
  return e.op == Op::kNumber && e.value.integer() && e.decimals < 0;
}

}  // namespace

// "1234.5(6)e-7"
Expr NumberFromDigits(std::string_view digits) {
  if (digits.size() > 3000) return nullptr;
  int64_t exponent = 0;
  if (const size_t e = digits.find('e'); e != std::string_view::npos) {
    const std::string power(digits.substr(e + 1));
    if (power.size() > 5) return nullptr;
    exponent = std::stol(power);
    digits = digits.substr(0, e);
  }
  std::string all, repeating;
  int64_t behind = 0, significant = 0;
  bool point = false, bracket = false;
  for (const char c : digits) {
    if (c == '.') {
      point = true;
    } else if (c == '(') {
      bracket = true;
    } else if (bracket && c != ')') {
      repeating += c;
    } else if (c != ')') {
      all += c;
      behind += point ? 1 : 0;
      significant += significant > 0 || c != '0' ? 1 : 0;
    }
  }
  auto node = std::make_shared<ExprNode>();
  node->value = BigRational::FromDigits(all.empty() ? "0" : all) *
                BigRational::PowerOfTen(exponent - behind);
  if (!repeating.empty()) {
    const int64_t n = static_cast<int64_t>(repeating.size());
    const BigRational nines = BigRational::PowerOfTen(n) - BigRational(1);
    node->value = node->value + BigRational::FromDigits(repeating) / nines *
                                    BigRational::PowerOfTen(exponent - behind);
  } else if (point) {
    node->decimals = static_cast<int16_t>(behind - exponent);
    node->significant = static_cast<int16_t>(significant);
    if (node->decimals < 0) node->decimals = -1;
  }
  return node;
}

Expr Parser::ReadFactor() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  Expr e = ReadAtom();
  if (e == nullptr) return nullptr;
  if (IsWhole(*e) && Peek(1).kind == TokenKind::kNumber &&
      (IsCommand("choose") ||
       (IsLetter("C") && !Peek().space_before && !Peek(1).space_before))) {
    ++at_;
    Expr k = ReadNumber();
    if (k == nullptr) return nullptr;
    return ReadPostfix(Function("binomial", {std::move(e), std::move(k)}));
  }
  if (IsWhole(*e)) {
    e = ReadMixed(e);
    if (e == nullptr) return nullptr;
  }
  return ReadPostfix(std::move(e));
}

// "2\frac{1}{3}", "2 1/3": an integer and a proper fraction are added, other
// fractions multiplied. Returns `whole` itself if no fraction follows.
Expr Parser::ReadMixed(const Expr& whole) {
  Expr top, bottom, fraction;
  if (BeginsUnitFraction()) return whole;
  if (IsCommand("frac") || IsCommand("dfrac") || IsCommand("tfrac")) {
    ++at_;
    fraction = ReadFraction();
    if (fraction == nullptr) return nullptr;
    if (fraction->op == Op::kMultiply && fraction->args[0]->op == Op::kNumber &&
        fraction->args[1]->op == Op::kPower) {
      top = fraction->args[0];
      bottom = fraction->args[1]->args[0];
    }
  } else if (Peek().kind == TokenKind::kNumber && Peek().space_before &&
             IsSign("/", 1) && Peek(2).kind == TokenKind::kNumber) {
    top = NumberFromDigits(Peek().text);
    bottom = NumberFromDigits(Peek(2).text);
    if (top == nullptr || bottom == nullptr) return Fail("a shorter number");
    at_ += 3;
    fraction = Divide(top, bottom);
  } else {
    return whole;
  }
  if (top != nullptr && IsWhole(*top) && IsWhole(*bottom) &&
      top->value < bottom->value && top->value.sign() > 0 && !IsSign("^")) {
    return Number(whole->value + top->value / bottom->value);
  }
  fraction = ReadPostfix(std::move(fraction));
  return fraction == nullptr ? nullptr : Multiply(whole, fraction);
}

// The exponent behind "^": a group, a number, a sign and an atom.
Expr Parser::ReadExponent(bool& degrees) {
  degrees = false;
  if (SkipCommand("circ") || SkipCommand("degree") || SkipSign("o")) {
    degrees = true;
    return Number(0);
  }
  if (IsSign("{") && IsCommand("circ", 1) && IsSign("}", 2)) {
    at_ += 3;
    degrees = true;
    return Number(0);
  }
  if (SkipSign("-")) {
    Expr e = ReadAtom();
    return e == nullptr ? nullptr : Negate(std::move(e));
  }
  SkipSign("+");
  Expr e = IsSign("{") ? ReadGroup() : ReadAtom();
  if (e == nullptr) return nullptr;
  if (!IsScalar(*e)) return Fail("a number as exponent");
  if (IsSign("^")) {
    ++at_;
    bool more = false;
    Expr upper = ReadExponent(more);
    if (upper == nullptr) return nullptr;
    e = more ? Make(Op::kQuantity, {e}, " degree") : Power(e, upper);
  }
  while (IsSign("!")) {
    ++at_;
    e = Function("factorial", {std::move(e)});
  }
  return e;
}

// The base that "5", "five", "base 5" name; 0 if none from 2 to 36.
int Parser::BaseNamed(std::string_view name) {
  if (name.starts_with("base")) name.remove_prefix(4);
  while (name.starts_with(" ")) name.remove_prefix(1);
  const std::string words = IsDigits(name) ? "" : NumberInWords(name);
  const std::string digits = words.empty() ? std::string(name) : words;
  if (!IsDigits(digits) || digits.size() > 2) return 0;
  const int base = std::stoi(digits);
  return base >= 2 && base <= 36 ? base : 0;
}

// Digits in another base; `shown` is how they are written.
Expr Parser::Based(std::string_view digits, int base, Expr shown) {
  auto node = std::make_shared<ExprNode>();
  node->op = Op::kBased;
  node->args.push_back(std::move(shown));
  node->name = std::to_string(base);
  for (const char c : digits) {
    const int digit =
        c <= '9' ? c - '0'
                 : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
    if (digit >= base) return Fail("digits of this base");
    node->value = node->value * BigRational(base) + BigRational(digit);
  }
  return node;
}

// "1011_2", "342 base 5", "342 (base 5)".
Expr Parser::ReadBased(const Expr& digits) {
  int base = 0;
  if (IsSign("_")) {
    base = BaseNamed(ReadSubscript());
  } else {
    const bool bracket = SkipSign("(");
    const std::string word = Take().text;
    base = BaseNamed(IsPhrase(word, Reading::kBase) ? Take().text : word);
    if (bracket && !Expect(")")) return nullptr;
  }
  if (base == 0 || !IsWhole(*digits)) return Fail("a base from 2 to 36");
  return Based(digits->value.ToString(), base, digits);
}

// "base 5" behind a number.
bool Parser::BeginsBase() const {
  const size_t at = IsSign("(") ? 1 : 0;
  const Token& word = Peek(at);
  if (word.kind != TokenKind::kText) return false;
  if (IsPhrase(word.text, Reading::kBase)) {
    return Peek(at + 1).kind == TokenKind::kNumber;
  }
  return word.text.starts_with("base ") && BaseNamed(word.text) != 0;
}

// "AF3_{16}": the number of tokens that are digits; 0 if none.
size_t Parser::BasedLetters() const {
  size_t at = 0;
  bool letters = false;
  for (; at < 12; ++at) {
    const Token& token = Peek(at);
    const bool letter = token.kind == TokenKind::kLetter;
    if ((!letter && token.kind != TokenKind::kNumber) ||
        (at > 0 && token.space_before)) {
      break;
    }
    letters |= letter || !IsDigits(token.text);
  }
  if (at == 0 || !letters || !IsSign("_", at)) return 0;
  const size_t brace = IsSign("{", at + 1) ? 1 : 0;
  const std::string& base = Peek(at + 1 + brace).text;
  const bool hexadecimal = base == "16" || base == "12" || base == "11";
  if (!hexadecimal || (brace == 1 && !IsSign("}", at + 3))) return 0;
  for (size_t i = 0; i < at; ++i) {
    for (const char c : Peek(i).text) {
      const int small = std::tolower(static_cast<unsigned char>(c));
      const bool digit = c >= '0' && c <= '9';
      const int last = base == "16" ? 'f' : base == "12" ? 'b' : 'a';
      if (!digit && (small < 'a' || small > last)) return 0;
    }
  }
  return at;
}

Expr Parser::ReadBasedLetters(size_t tokens) {
  std::string digits;
  for (size_t i = 0; i < tokens; ++i) digits += Take().text;
  const int base = BaseNamed(ReadSubscript());
  for (char& c : digits) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  Expr shown = Make(Op::kText, {}, digits);
  return Based(digits, base, std::move(shown));
}

// "C", "F" or their names behind a degree sign, at the end.
std::string Parser::TemperatureOr(std::string_view unit) {
  std::string letter = Peek().text;
  const bool text = Peek().kind == TokenKind::kText;
  if (Peek(1).kind != TokenKind::kEnd ||
      (!text && Peek().kind != TokenKind::kLetter)) {
    return std::string(unit);
  }
  const bool celsius = letter == "C" || letter == "c" || letter == "celsius";
  if (!celsius && letter != "F" && letter != "f" && letter != "fahrenheit") {
    return std::string(unit);
  }
  ++at_;
  return celsius ? " celsius" : " fahrenheit";
}

Expr Parser::ReadPostfix(Expr e) {
  int count = 0;
  while (e != nullptr) {
    if (++count > 40) return Fail("fewer signs after a factor");
    const bool sign = Peek().kind == TokenKind::kSign;
    const bool command = Peek().kind == TokenKind::kCommand;
    if (IsWhole(*e) && BeginsBase()) {
      e = ReadBased(e);
      continue;
    }
    if (!sign && !command) break;
    if (IsSign("^") && e->op == Op::kNumberSet) {
      ++at_;
      auto node = std::make_shared<ExprNode>(*e);
      node->name += IsSign("{") ? ReadRawGroup() : Take().text;
      e = node;
    } else if (IsSign("^") && e->op == Op::kTuple &&
               (IsLetter("T", 1) || IsCommand("top", 1) ||
                (IsSign("{", 1) && IsLetter("T", 2) && IsSign("}", 3)))) {
      // Row and column vectors have the same coordinates.
      at_ += IsSign("{", 1) ? 4 : 2;
    } else if (IsSign("^") && IsSign("{", 1) && IsSign("}", 3) &&
               IsPhrase(Peek(2).text, Reading::kOrdinal)) {
      at_ += 4;
    } else if (SkipSign("^")) {
      if (SkipSign("'") || SkipCommand("prime")) {
        e = Function("derived", {e});
        continue;
      }
      bool degrees = false;
      Expr exponent = ReadExponent(degrees);
      if (exponent == nullptr) return nullptr;
      if (degrees) {
        e = Make(Op::kQuantity, {e}, TemperatureOr(" degree"));
      } else {
        e = Power(e, exponent);
      }
    } else if (IsSign("!") && IsSign("!", 1) && !IsSign("!", 2)) {
      at_ += 2;
      e = Function("double_factorial", {e});
    } else if (SkipSign("!") || SkipCommand("factorial")) {
      e = Function("factorial", {e});
    } else if (IsSign("%") || IsCommand("percent")) {
      if (HasSymbol(*e) || e->op == Op::kPercent) {
        return Fail("a number before the percent sign");
      }
      ++at_;
      e = Make(Op::kPercent, {e});
    } else if (SkipCommand("degree") || SkipCommand("textdegree") ||
               (e->op == Op::kNumber && SkipCommand("circ"))) {
      e = Make(Op::kQuantity, {e}, TemperatureOr(" degree"));
    } else if (IsSign("_") && e->op == Op::kNumber) {
      e = ReadBased(e);
    } else {
      break;
    }
  }
  return e;
}

Expr Parser::ReadNumber() {
  Expr e = NumberFromDigits(Peek().text);
  if (e == nullptr) return Fail("a shorter number");
  ++at_;
  return e;
}

// "_1", "_{max}" as text; empty if absent.
std::string Parser::ReadSubscript() {
  if (!SkipSign("_")) return {};
  return IsSign("{") ? ReadRawGroup() : Take().text;
}

// The texts of all tokens between braces.
std::string Parser::ReadRawGroup() {
  std::string out;
  int open = 0;
  while (!AtEnd()) {
    const Token token = Take();
    if (token.kind == TokenKind::kSign && token.text == "{") {
      if (open++ == 0) continue;
    }
    if (token.kind == TokenKind::kSign && token.text == "}") {
      if (--open == 0) return out;
    }
    if (out.size() > 200) break;
    out += token.text;
  }
  Fail("\"}\"");
  return out;
}

// Whether "W(x) =" is next: a function definition.
bool Parser::BeginsDefinition() const {
  if (at_ >= 2) {
    const Token& before = tokens_[at_ - 2];
    const bool joint = before.text == "," || before.text == ";" ||
                       before.text == "and" || before.text == "or" ||
                       before.text == "{" || before.text == "\\\\";
    if (!joint) return false;
  }
  int open = 0;
  for (size_t i = 0; i < 40; ++i) {
    if (IsSign("(", i)) ++open;
    if (IsSign(")", i) && --open == 0) return IsSign("=", i + 1);
    if (Peek(i).kind == TokenKind::kEnd) return false;
  }
  return false;
}

// "v^2_0" becomes "v_0^2".
void Parser::SubscriptFirst() {
  const auto end_of = [this](size_t ahead) {
    if (!IsSign("{", ahead)) return ahead + 1;
    int open = 0;
    for (size_t i = ahead; i < ahead + 20; ++i) {
      if (IsSign("{", i)) ++open;
      if (IsSign("}", i) && --open == 0) return i + 1;
    }
    return size_t{0};
  };
  const size_t power = end_of(1);
  if (power == 0 || !IsSign("_", power)) return;
  const size_t below = end_of(power + 1);
  if (below == 0 || at_ + below > tokens_.size()) return;
  const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
  std::rotate(first, first + static_cast<std::ptrdiff_t>(power),
              first + static_cast<std::ptrdiff_t>(below));
}

Expr Parser::ReadSymbol(std::string name) {
  if (IsSign("^")) SubscriptFirst();
  if (const std::string below = ReadSubscript(); !below.empty()) {
    absl::StrAppend(&name, "_", below);
  }
  while (true) {
    if (SkipSign("'") || (IsSign("^") && IsCommand("prime", 1) && (at_ += 2))) {
      name += "'";
    } else if (IsSign("^") && IsSign("{", 1) && IsCommand("prime", 2)) {
      ++at_;
      ReadRawGroup();
      name += "'";
    } else {
      break;
    }
  }
  if (!IsSign("(")) return Symbol(name);
  const bool usual =
      std::string_view("fghFGHI").find(name[0]) != std::string_view::npos;
  // "V(0)" is an initial value: nobody writes a product with 0.
  const bool initial = Peek(1).text == "0" && IsSign(")", 2);
  if (!usual && !initial && !BeginsDefinition()) return Symbol(name);
  std::vector<Expr> args = ReadArguments();
  if (args.empty()) return Fail("an argument");
  // h(h + 1) is a product: a function's name is not in its own argument.
  bool product = false;
  for (const Expr& arg : args) {
    const auto inside = FreeSymbols(*arg);
    product |= std::find(inside.begin(), inside.end(), name) != inside.end();
  }
  if (!product) return Make(Op::kApply, std::move(args), name);
  Expr factor = ReadPostfix(
      args.size() == 1 ? args[0] : Make(Op::kTuple, std::move(args)));
  return factor == nullptr ? nullptr : Multiply(Symbol(name), factor);
}

// Whether the letter just read is written as programs write the imaginary unit
// I: "2*I", "3 + I", "e^{I\\pi}". "I(0)" and "V/I" are currents.
bool Parser::BesideProgramSigns() const {
  if (IsSign("(") || IsSign("/")) return false;
  const auto joins = [](const Token& token) {
    return token.kind == TokenKind::kSign &&
           (token.text == "*" || token.text == "+" || token.text == "-");
  };
  const bool before = at_ >= 2 && joins(tokens_[at_ - 2]);
  const bool power =
      at_ >= 3 && tokens_[at_ - 2].text == "{" && tokens_[at_ - 3].text == "^";
  return before || power || (Peek().kind == TokenKind::kSign && joins(Peek()));
}

Expr Parser::ReadLetter() {
  if (BeginsBinomial()) return ReadBinomial();
  const std::string name = Take().text;
  const bool plain = !IsSign("_") && !IsSign("'");
  if (name == "e" && plain) return Make(Op::kE);
  if (plain && ((name == "i" && !i_is_index_) ||
                (name == "I" && BesideProgramSigns()))) {
    return Make(Op::kImaginary);
  }
  return ReadSymbol(name);
}

Expr Parser::ReadGroup() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  if (!Expect("{")) return nullptr;
  const int bars = std::exchange(bars_, 0);
  Expr e = ReadItems(false);
  bars_ = bars;
  if (e == nullptr) return nullptr;
  if (SkipCommand("choose")) {
    Expr lower = ReadItems(false);
    if (lower == nullptr) return nullptr;
    e = Function("binomial", {e, lower});
  } else if (SkipCommand("over")) {
    Expr lower = ReadItems(false);
    if (lower == nullptr) return nullptr;
    e = Divide(e, lower);
  }
  return Expect("}") ? e : nullptr;
}

// The operand of \frac: a group, one digit or one atom.
Expr Parser::ReadOperand() {
  if (IsSign("{")) return ReadGroup();
  if (Peek().kind == TokenKind::kNumber && Peek().text.size() > 1 &&
      IsDigits(Peek().text)) {
    const std::string digit = Peek().text.substr(0, 1);
    tokens_[at_].text.erase(0, 1);
    return NumberFromDigits(digit);
  }
  SkipSign("+");
  if (SkipSign("-")) {
    Expr e = ReadAtom();
    return e == nullptr ? nullptr : Negate(std::move(e));
  }
  return ReadAtom();
}

// "(a, b)", "[a, b)", "(a)".
Expr Parser::ReadBracket() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  const std::string open = Take().text;
  const int bars = std::exchange(bars_, 0);
  std::vector<Expr> items;
  ++brackets_;
  do {
    Expr item = ReadItem();
    if (item == nullptr) return nullptr;
    items.push_back(std::move(item));
    if (items.size() > 400) return Fail("fewer items");
  } while (SkipSign(",") || SkipSign(";"));
  --brackets_;
  bars_ = bars;
  bool square = false;
  if (SkipSign("]") || SkipCommand("rbrack")) {
    square = true;
  } else if ((open == "]" || open == "[") && SkipSign("[")) {
    square = false;
  } else if (!Expect(")")) {
    return nullptr;
  }
  if (items.size() == 1) {
    if ((open == "(") == square) return Fail("matching brackets");
    return items[0];
  }
  const bool interval = items.size() == 2 && (open != "(" || square);
  if (!interval) {
    if (items.size() > 2 && (open == "(") == square) {
      return Fail("matching brackets");
    }
    return Make(Op::kTuple, std::move(items));
  }
  auto node = std::make_shared<ExprNode>();
  node->op = Op::kInterval;
  node->closed_low = open == "[" || open == "lbrack";
  node->closed_high = square;
  node->args = std::move(items);
  return node;
}

// "\{1, 2\}", "\{x : x > 2\}"; the result of the latter is its condition.
Expr Parser::ReadBraceSet() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  if (SkipCommand("rbrace")) return Make(Op::kSet);
  const bool colon = std::exchange(no_colon_, true);
  const int bars = std::exchange(bars_, 1);
  Expr e = ReadItems(false);
  no_colon_ = colon;
  if (e != nullptr && (SkipSign("|") || SkipSign(":") || SkipCommand("mid") ||
                       SkipCommand("colon") || SkipCommand("vert"))) {
    bars_ = 0;
    e = ReadItems(false);
    bars_ = bars;
    if (e == nullptr) return nullptr;
    if (!SkipCommand("rbrace")) return Fail("\"\\}\"");
    return e;
  }
  bars_ = bars;
  if (e == nullptr) return nullptr;
  if (!SkipCommand("rbrace")) return Fail("\"\\}\"");
  if (e->op == Op::kList) return Make(Op::kSet, e->args);
  if (e->op == Op::kRelation) return e;
  return Make(Op::kSet, {e});
}

Expr Parser::ReadCurrency(const std::string& unit) {
  Expr e = ReadFactor();
  if (e == nullptr) return nullptr;
  return Make(Op::kQuantity, {e}, " " + unit);
}

Expr Parser::ReadAtom() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  const Token& token = Peek();
  if (const size_t digits = BasedLetters()) return ReadBasedLetters(digits);
  switch (token.kind) {
    case TokenKind::kText:
      // "\\text{area}_1"
      if (IsSign("_", 1)) return ReadSymbol(Take().text);
      [[fallthrough]];
    case TokenKind::kEnd:
      return Fail("a number or a symbol");
    case TokenKind::kNumber:
      return ReadNumber();
    case TokenKind::kLetter:
      return ReadLetter();
    case TokenKind::kCommand:
      return ReadCommandAtom();
    case TokenKind::kSign:
      break;
  }
  if (BeginsRows()) return ReadRows();
  if (const size_t length = CalculatorChoice()) return ReadChoiceOf(length);
  if (token.text == "(" || token.text == "[" || token.text == "]") {
    return ReadBracket();
  }
  if (token.text == "{") {
    const bool builder = Peek(1).kind == TokenKind::kLetter &&
                         (IsSign("|", 2) || IsSign(":", 2));
    return builder ? ReadPlainBuilder() : ReadGroup();
  }
  if (token.text == "|") {
    ++at_;
    ++bars_;
    Expr e = ReadSum();
    --bars_;
    if (e == nullptr || !Expect("|")) return nullptr;
    return Function("abs", {e});
  }
  if (token.text == "$" && Peek(1).kind == TokenKind::kNumber) {
    ++at_;
    return ReadCurrency("dollar");
  }
  return Fail("a number or a symbol");
}

}  // namespace espalier
