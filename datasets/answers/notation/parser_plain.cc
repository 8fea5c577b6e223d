// Spellings of computer algebra systems and calculators: Rational(1, 2),
// Matrix([[1, 2], [3, 4]]), Interval.open(0, 1), C(8, 2).
#include <algorithm>
#include <utility>

#include "datasets/answers/notation/parser.h"
#include "datasets/answers/notation/parser_state.h"

namespace espalier {
namespace {

bool Digits(std::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool Parser::IsConstructor(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "Rational", "Integer",   "binomial", "factorial",
      "Matrix",   "FiniteSet", "Union",    "Tuple"};
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

// Positioned behind the name, at the bracket.
Expr Parser::ReadConstructor(const std::string& name) {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  std::vector<Expr> args = ReadArguments();
  if (args.empty()) return Fail("an argument");
  if (name == "FiniteSet") return Make(Op::kSet, std::move(args));
  if (name == "Union") return Make(Op::kUnion, std::move(args));
  if (name == "Tuple") return Make(Op::kTuple, std::move(args));
  const bool scalars = std::all_of(
      args.begin(), args.end(), [](const Expr& arg) { return IsScalar(*arg); });
  if (name == "Matrix") {
    return args.size() == 1 && !scalars ? args[0] : Fail("rows of a matrix");
  }
  if (!scalars) return Fail("numbers");
  if (args.size() == 1) {
    return name == "factorial"  ? Function("factorial", {args[0]})
           : name == "binomial" ? Fail("two numbers")
                                : args[0];
  }
  if (args.size() != 2) return Fail("two numbers");
  if (name == "Rational") return Divide(args[0], args[1]);
  if (name == "binomial") return Function("binomial", std::move(args));
  return Fail("one number");
}

// "C(8, 2)" and "C_8^2", "C^2_8", "A_5^3" of integers: combinations and
// permutations.
bool Parser::BeginsBinomial() const {
  const bool choices = IsLetter("C");
  if (!choices && !IsLetter("A") && !IsLetter("P")) return false;
  const auto number = [this](size_t at) {
    return Peek(at).kind == TokenKind::kNumber && Digits(Peek(at).text);
  };
  // "C(n, k)"
  if (IsSign("(", 1) && choices && IsLetter("n", 2) && IsSign(",", 3) &&
      Peek(4).kind == TokenKind::kLetter && IsSign(")", 5)) {
    return true;
  }
  if (IsSign("(", 1)) {
    return choices && number(2) && IsSign(",", 3) && number(4) &&
           IsSign(")", 5);
  }
  size_t at = 1;
  std::string_view below, above;
  for (int i = 0; i < 2; ++i) {
    if (!IsSign("_", at) && !IsSign("^", at)) return false;
    std::string_view& part = IsSign("_", at) ? below : above;
    const size_t brace = IsSign("{", at + 1) ? 1 : 0;
    if (!number(at + 1 + brace) || !part.empty()) return false;
    part = Peek(at + 1 + brace).text;
    if (brace == 1 && !IsSign("}", at + 3)) return false;
    at += 2 + 2 * brace;
  }
  return !below.empty() && !above.empty() &&
         std::stoi(std::string(below)) >= std::stoi(std::string(above)) &&
         std::stoi(std::string(below)) > 1;
}

Expr Parser::ReadBinomial() {
  const bool choices = Take().text == "C";
  Expr n, k;
  if (SkipSign("(")) {
    n = ReadAtom();
    ++at_;
    k = n == nullptr ? nullptr : ReadAtom();
    ++at_;
  } else {
    for (int i = 0; i < 2; ++i) {
      const bool below = Take().text == "_";
      const bool brace = SkipSign("{");
      (below ? n : k) = ReadNumber();
      if (brace) ++at_;
    }
  }
  if (n == nullptr || k == nullptr) return Fail("two numbers");
  Expr choose = Function("binomial", {n, k});
  if (choices) return choose;
  return Multiply(std::move(choose), Function("factorial", {k}));
}

// "\\left\\{\\begin{array}{l} x = 1 \\\\ y = 2 \\end{array}\\right."
Expr Parser::ReadSystem() {
  ++at_;
  Expr rows = ReadEnvironment();
  if (rows == nullptr) return nullptr;
  SkipCommand("rbrace");
  if (rows->op != Op::kMatrix || rows->columns > 2) return rows;
  std::vector<Expr> lines;
  const size_t columns = static_cast<size_t>(rows->columns);
  for (size_t i = 0; i + columns <= rows->args.size(); i += columns) {
    lines.push_back(columns == 1
                        ? rows->args[i]
                        : Make(Op::kTuple, {rows->args[i], rows->args[i + 1]}));
  }
  if (columns == 2) return Make(Op::kCases, std::move(lines));
  return Make(Op::kList, std::move(lines), "and");
}

// "{x | x > 1}" without backslashes.
Expr Parser::ReadPlainBuilder() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  at_ += 3;
  const int bars = std::exchange(bars_, 0);
  Expr condition = ReadItems(false);
  bars_ = bars;
  if (condition == nullptr || !Expect("}")) return nullptr;
  return condition;
}

namespace {

Expr Conjugate(const Expr& e) {
  if (e->op == Op::kImaginary) return Negate(e);
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(Conjugate(arg));
  return WithArgs(*e, std::move(args));
}

}  // namespace

// "{3 + 4i}" under a bar. Returns null and consumes nothing if there is no
// number.
Expr Parser::ReadConjugate() {
  bool imaginary = false;
  for (size_t i = 1; !IsSign("}", i); ++i) {
    const Token& token = Peek(i);
    imaginary |= token.text == "i";
    const bool sign = token.text == "+" || token.text == "-";
    if (i > 12 ||
        (token.kind != TokenKind::kNumber && token.text != "i" && !sign)) {
      return nullptr;
    }
  }
  if (!imaginary || i_is_index_) return nullptr;
  const size_t start = at_;
  Expr number = ReadGroup();
  if (number != nullptr) return Conjugate(number);
  error_.clear();
  at_ = start;
  return nullptr;
}

// "{}_{10}C_{3}", "^{10}C_3": the number of tokens; else 0.
size_t Parser::CalculatorChoice() const {
  size_t at = IsSign("{") && IsSign("}", 1) ? 2 : 0;
  const auto index = [this, &at] {
    if (!IsSign("_", at) && !IsSign("^", at)) return false;
    const size_t brace = IsSign("{", at + 1) ? 1 : 0;
    const Token& number = Peek(at + 1 + brace);
    if (number.kind != TokenKind::kNumber || !Digits(number.text) ||
        (brace == 1 && !IsSign("}", at + 3))) {
      return false;
    }
    at += 2 + 2 * brace;
    return true;
  };
  if (!index()) return 0;
  if (!IsLetter("C", at) && !IsLetter("P", at)) return 0;
  ++at;
  return IsSign("_", at) && index() ? at : 0;
}

Expr Parser::ReadChoiceOf(size_t length) {
  std::vector<Expr> numbers;
  bool choices = true;
  for (size_t i = 0; i < length; ++i) {
    const Token token = Take();
    if (token.kind == TokenKind::kNumber) {
      numbers.push_back(NumberFromDigits(token.text));
    }
    if (token.kind == TokenKind::kLetter) choices = token.text == "C";
  }
  if (numbers.size() != 2) return Fail("two numbers");
  Expr choose = Function("binomial", {numbers[0], numbers[1]});
  if (choices) return choose;
  return Multiply(std::move(choose), Function("factorial", {numbers[1]}));
}

// "[[1, 2], [3, 4]]": rows of one length, checked before they are parsed, as
// parsing brackets twice would double the cost at every level.
bool Parser::BeginsRows() const {
  if (!IsSign("[") || !IsSign("[", 1)) return false;
  int square = 1, other = 0;
  size_t commas = 0, columns = 0, rows = 0;
  for (size_t i = 1; i < 1000; ++i) {
    const Token& token = Peek(i);
    if (token.kind == TokenKind::kEnd) return false;
    if (token.kind != TokenKind::kSign) {
      if (square == 1) return false;
      continue;
    }
    const char c = token.text[0];
    if (c == '(' || c == '{') ++other;
    if (c == ')' || c == '}') --other;
    if (other > 0) continue;
    if (c == '[') {
      if (++square > 2) return false;
      commas = 0;
    } else if (c == ']' && --square == 1) {
      if (rows > 0 && commas != columns) return false;
      columns = commas;
      ++rows;
    } else if (c == ']') {
      return rows > 0;
    } else if (c == ',' && square == 2) {
      ++commas;
    } else if (c != ',' && square == 1) {
      return false;
    }
  }
  return false;
}

Expr Parser::ReadRows() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  ++at_;
  const int bars = std::exchange(bars_, 0);
  auto node = std::make_shared<ExprNode>();
  node->op = Op::kMatrix;
  do {
    if (!Expect("[")) return nullptr;
    size_t cells = 0;
    do {
      Expr cell = ReadItem();
      if (cell == nullptr) return nullptr;
      node->args.push_back(std::move(cell));
      ++cells;
      if (node->args.size() > 400) return Fail("fewer cells");
    } while (SkipSign(","));
    if (node->columns == 0) node->columns = static_cast<int>(cells);
    if (!Expect("]")) return nullptr;
    if (cells != static_cast<size_t>(node->columns)) {
      return Fail("rows of one length");
    }
  } while (SkipSign(","));
  bars_ = bars;
  return Expect("]") ? node : nullptr;
}

}  // namespace espalier
