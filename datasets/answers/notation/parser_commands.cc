#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/notation/parser_state.h"
#include "datasets/answers/words/clean_text.h"

namespace espalier {
namespace {

// One name for all spellings of a function; empty if not a function.
std::string FunctionName(std::string_view command) {
  static constexpr struct {
    std::string_view spelling, name;
  } kOthers[] = {
      {"arcsinh", "arsinh"}, {"asinh", "arsinh"},   {"arccosh", "arcosh"},
      {"acosh", "arcosh"},   {"arctanh", "artanh"}, {"atanh", "artanh"},
      {"asin", "arcsin"},    {"acos", "arccos"},    {"atan", "arctan"},
      {"arctg", "arctan"},   {"tg", "tan"},         {"ctg", "cot"},
      {"lg", "log"},         {"Re", "re"},          {"Im", "im"},
      {"sign", "sgn"},       {"ceiling", "ceil"},   {"cosec", "csc"}};
  for (const auto& other : kOthers) {
    if (other.spelling == command) return std::string(other.name);
  }
  static constexpr std::string_view kSame[] = {
      "sin",    "cos",    "tan",    "cot",    "sec",    "csc",
      "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc",
      "sinh",   "cosh",   "tanh",   "coth",   "sech",   "csch",
      "arsinh", "arcosh", "artanh", "log",    "ln",     "exp",
      "min",    "max",    "gcd",    "lcm",    "floor",  "ceil",
      "abs",    "sgn",    "re",     "im",     "det",    "cis"};
  for (const std::string_view name : kSame) {
    if (name == command) return std::string(name);
  }
  return {};
}

std::string Inverse(const std::string& name) {
  if (name == "sinh" || name == "cosh" || name == "tanh") return "ar" + name;
  if (name == "sin" || name == "cos" || name == "tan" || name == "cot" ||
      name == "sec" || name == "csc") {
    return "arc" + name;
  }
  return {};
}

bool AnyCount(const std::string& name) {
  return name == "min" || name == "max" || name == "gcd" || name == "lcm";
}

}  // namespace

std::vector<Expr> Parser::ReadArguments() {
  std::vector<Expr> args;
  const std::string close = IsSign("(") ? ")" : IsSign("[") ? "]" : "}";
  ++at_;
  const int bars = std::exchange(bars_, 0);
  do {
    Expr arg = ReadItem();
    if (arg == nullptr) return {};
    args.push_back(std::move(arg));
    if (args.size() > 50) return {};
  } while (SkipSign(",") || SkipSign(";"));
  bars_ = bars;
  if (!Expect(close)) return {};
  return args;
}

// Behind a function's name: powers and bases, then the argument.
Expr Parser::ReadFunction(const std::string& command) {
  std::string name = FunctionName(command);
  Expr power, base;
  if (command == "lg") base = Number(10);
  while (IsSign("^") || IsSign("_")) {
    const bool above = Take().text == "^";
    if (above) {
      bool degrees = false;
      power = ReadExponent(degrees);
      if (power == nullptr) return nullptr;
    } else {
      base = IsSign("{") ? ReadGroup() : ReadAtom();
      if (base == nullptr) return nullptr;
    }
  }
  if (name == "log" && base == nullptr && !Peek().space_before &&
      (Peek().text == "2" || Peek().text == "10") && IsSign("(", 1)) {
    base = ReadAtom();
  }
  if (power != nullptr && power->op == Op::kNumber &&
      power->value == BigRational(-1)) {
    if (const std::string inverse = Inverse(name); !inverse.empty()) {
      name = inverse;
      power = nullptr;
    }
  }
  std::vector<Expr> args;
  if (IsSign("(") || IsSign("{") || IsSign("[")) {
    const bool group = IsSign("{");
    args = ReadArguments();
    if (args.empty()) return Fail("an argument");
    // Braces around several arguments: \max{1, 2}.
    if (group && args.size() == 1 && args[0]->op == Op::kList) {
      args = args[0]->args;
    }
  } else {
    const bool minus = SkipSign("-");
    Expr arg = ReadProduct(true);
    if (arg == nullptr) return nullptr;
    args.push_back(minus ? Negate(std::move(arg)) : std::move(arg));
  }
  // log(x, b) as programs write it.
  if (name == "log" && args.size() == 2 && base == nullptr) {
    base = args[1];
    args.pop_back();
  }
  if (args.size() != 1 && !AnyCount(name)) return Fail("one argument");
  Expr e;
  if (name == "log") {
    e = Function("log", {args[0], base != nullptr ? base : Number(10)});
  } else if (name == "ln") {
    e = Function("ln", {args[0]});
  } else if (name == "cis") {
    e = Power(Make(Op::kE), Multiply(Make(Op::kImaginary), args[0]));
  } else if (name == "exp") {
    e = Power(Make(Op::kE), args[0]);
  } else {
    e = Function(name, std::move(args));
  }
  return power != nullptr ? Power(e, power) : e;
}

Expr Parser::ReadFraction() {
  if (IsSign("{") && IsLetter("d", 1) && IsSign("}", 2) && IsSign("{", 3) &&
      IsLetter("d", 4)) {
    const Token& variable = Peek(5);
    const bool one = variable.kind == TokenKind::kLetter ||
                     variable.kind == TokenKind::kCommand;
    if (one && IsSign("}", 6)) {
      const std::string name = variable.text;
      at_ += 7;
      Expr body = ReadProduct(false);
      if (body == nullptr) return nullptr;
      return Make(Op::kDerivative, {body, Symbol(name)});
    }
  }
  Expr top = ReadOperand();
  if (top == nullptr) return nullptr;
  Expr bottom = ReadOperand();
  if (bottom == nullptr) return nullptr;
  return Divide(std::move(top), std::move(bottom));
}

Expr Parser::ReadRoot() {
  Expr n;
  if (IsSign("[")) {
    ++at_;
    n = ReadSum();
    if (n == nullptr || !Expect("]")) return nullptr;
  }
  Expr of;
  if (IsSign("{")) {
    of = ReadGroup();
  } else {
    of = ReadAtom();
  }
  if (of == nullptr) return nullptr;
  if (n == nullptr || (n->op == Op::kNumber && n->value == BigRational(2))) {
    return Power(std::move(of), Number(BigRational(1, 2)));
  }
  return Function("root", {std::move(of), std::move(n)});
}

// Sums and products with their bounds, in either order.
Expr Parser::ReadBigOperator(const std::string& name) {
  Expr index, lower, upper;
  const bool counts = i_is_index_;
  while (IsSign("_") || IsSign("^")) {
    const bool below = Take().text == "_";
    if (below) {
      if (!Expect("{")) return nullptr;
      if (IsLetter("i")) i_is_index_ = true;
      index = ReadLetterOrSymbol();
      if (index == nullptr || !Expect("=")) return nullptr;
      lower = ReadSum();
      if (lower == nullptr || !Expect("}")) return nullptr;
    } else {
      upper = ReadBound();
      if (upper == nullptr) return nullptr;
    }
  }
  if (index == nullptr || upper == nullptr) return Fail("bounds of the sum");
  Expr body = ReadProduct(false);
  i_is_index_ = counts;
  if (body == nullptr) return nullptr;
  return Make(name == "sum" ? Op::kSum : Op::kProduct,
              {body, index, lower, upper});
}

// A bound of a sum or an integral. A letter takes no subscript: in "\\int^b_a"
// the lower bound follows.
Expr Parser::ReadBound() {
  if (SkipSign("-")) {
    Expr e = ReadBound();
    return e == nullptr ? nullptr : Negate(std::move(e));
  }
  if (IsSign("{")) return ReadGroup();
  if (Peek().kind == TokenKind::kLetter) return Symbol(Take().text);
  return ReadAtom();
}

Expr Parser::ReadLetterOrSymbol() {
  if (Peek().kind != TokenKind::kLetter && Peek().kind != TokenKind::kCommand) {
    return Fail("a variable");
  }
  return Symbol(Take().text);
}

// "\\frac{3 dz}{z}" becomes "\\frac{3}{z} dz".
void Parser::MoveDifferential() {
  if (!IsCommand("frac") && !IsCommand("dfrac") && !IsCommand("tfrac")) return;
  size_t at = 1;
  while (at < 60 && Peek(at).kind != TokenKind::kEnd && !IsSign("}", at)) ++at;
  const bool differential = at >= 4 && IsSign("}", at) && IsSign("{", at + 1) &&
                            IsLetter("d", at - 2) &&
                            Peek(at - 1).kind == TokenKind::kLetter;
  if (!differential) return;
  size_t close = at + 1;
  for (int open = 0; close < tokens_.size() - at_; ++close) {
    if (IsSign("{", close)) ++open;
    if (IsSign("}", close) && --open == 0) break;
  }
  if (!IsSign("}", close)) return;
  const auto token = [this](size_t ahead) {
    return tokens_.begin() + static_cast<std::ptrdiff_t>(at_ + ahead);
  };
  // Shifts the tokens between one place to the left.
  std::rotate(token(at - 2), token(at), token(close + 1));
  if (IsSign("{", at - 3)) {
    tokens_.insert(token(at - 2), {TokenKind::kNumber, "1", false});
  }
}

Expr Parser::ReadIntegral() {
  Expr lower, upper;
  while (IsSign("_") || IsSign("^")) {
    const bool below = Take().text == "_";
    if (IsSign("{") && IsSign("}", 1)) {
      at_ += 2;
      continue;
    }
    Expr bound = ReadBound();
    if (bound == nullptr) return nullptr;
    (below ? lower : upper) = bound;
  }
  MoveDifferential();
  const bool outer = std::exchange(in_integral_, true);
  const bool nothing = IsLetter("d") && Peek(1).kind == TokenKind::kLetter;
  Expr body = nothing ? Number(1) : ReadSum();
  in_integral_ = outer;
  if (body == nullptr) return nullptr;
  if (!IsLetter("d")) return Fail("the variable, as in dx");
  ++at_;
  Expr variable = ReadLetterOrSymbol();
  if (variable == nullptr) return nullptr;
  if (lower == nullptr || upper == nullptr) {
    return Make(Op::kIntegral, {body, variable});
  }
  return Make(Op::kIntegral, {body, variable, lower, upper});
}

Expr Parser::ReadLimit() {
  if (!SkipSign("_") || !Expect("{")) return Fail("a limit's target");
  Expr variable = ReadLetterOrSymbol();
  if (variable == nullptr) return nullptr;
  const std::string arrow = Take().text;
  if (arrow != "to" && arrow != "->" && !arrow.ends_with("ightarrow")) {
    return Fail("an arrow");
  }
  // "3^{+}", "3^+": the side is ignored.
  for (size_t i = 0; i < 40; ++i) {
    const size_t group = IsSign("{", i + 1) ? 1 : 0;
    const bool side = IsSign("+", i + 1 + group) || IsSign("-", i + 1 + group);
    if (!IsSign("^", i) || !side || !IsSign("}", i + 2 + group)) continue;
    const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at_ + i);
    tokens_.erase(first, first + (group == 1 ? 4 : 2));
    break;
  }
  Expr target = ReadSum();
  if (target == nullptr) return nullptr;
  if (!Expect("}")) return nullptr;
  Expr body = ReadProduct(false);
  if (body == nullptr) return nullptr;
  return Make(Op::kLimit, {body, variable, target});
}

// Matrices, cases and aligned lines.
Expr Parser::ReadEnvironment() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  if (!IsSign("{")) return Fail("an environment's name");
  const std::string name = ReadRawGroup();
  if (name == "array" && IsSign("{")) ReadRawGroup();
  const bool lines = name.starts_with("align") || name.starts_with("gather") ||
                     name.starts_with("equation") || name.starts_with("split");
  const bool matrix = name.ends_with("matrix") || name == "array";
  if (!matrix && !lines && !name.ends_with("cases")) {
    return Fail("a matrix or cases");
  }
  if (lines) {
    // "x &= 1": alignment signs separate nothing.
    int inner = 0;
    auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
    for (; end != tokens_.end() && inner >= 0; ++end) {
      if (end->kind != TokenKind::kCommand) continue;
      inner += end->text == "begin" ? 1 : end->text == "end" ? -1 : 0;
    }
    const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
    tokens_.erase(std::remove_if(first, end,
                                 [](const Token& token) {
                                   return token.kind == TokenKind::kSign &&
                                          token.text == "&";
                                 }),
                  end);
  }
  const int bars = std::exchange(bars_, 0);
  std::vector<std::vector<Expr>> rows(1);
  size_t cells = 0;
  while (true) {
    if (IsCommand("end")) break;
    if (SkipSign("\\\\")) {
      if (!rows.back().empty()) rows.emplace_back();
      continue;
    }
    if (SkipSign("&") || SkipSign(",") || SkipSign(".") || SkipSign(";")) {
      continue;
    }
    if (AtEnd()) return Fail("\\end");
    if (++cells > 400) return Fail("fewer cells");
    // Words introduce conditions: "if x > 0".
    if (Peek().kind == TokenKind::kText && !matrix) ++at_;
    if (IsSign("&") || IsCommand("end") || IsSign("\\\\")) continue;
    Expr cell = ReadItem();
    if (cell == nullptr) return nullptr;
    rows.back().push_back(std::move(cell));
  }
  bars_ = bars;
  ++at_;
  if (!IsSign("{")) return Fail("an environment's name");
  const std::string end = ReadRawGroup();
  if (end != name) return Fail(absl::StrCat("\\end{", name, "}"));
  if (rows.back().empty()) rows.pop_back();
  if (rows.empty()) return Fail("a row");
  if (!matrix) {
    std::vector<Expr> items;
    for (auto& row : rows) {
      items.push_back(row.size() == 1 ? row[0]
                                      : Make(Op::kTuple, std::move(row)));
    }
    if (items.size() == 1) return items[0];
    const bool relations =
        std::all_of(items.begin(), items.end(),
                    [](const Expr& item) { return item->op == Op::kRelation; });
    return relations ? Make(Op::kList, std::move(items), "and")
                     : Make(Op::kCases, std::move(items));
  }
  auto node = std::make_shared<ExprNode>();
  node->op = Op::kMatrix;
  node->columns = static_cast<int>(rows[0].size());
  for (auto& row : rows) {
    if (row.size() != rows[0].size()) return Fail("rows of one length");
    for (Expr& cell : row) node->args.push_back(std::move(cell));
  }
  if (name == "vmatrix") return Function("det", {node});
  return node;
}

Expr Parser::ReadCommandAtom() {
  const Token command = Take();
  const std::string& name = command.text;
  if (name == "frac" || name == "dfrac" || name == "tfrac" || name == "cfrac") {
    return ReadFraction();
  }
  if (name == "sqrt") return ReadRoot();
  if (name == "cbrt") {
    Expr of = IsSign("{") ? ReadGroup() : ReadAtom();
    return of == nullptr ? nullptr : Function("root", {of, Number(3)});
  }
  if (name == "pi") return Make(Op::kPi);
  if (name == "infty") return Make(Op::kInfinity);
  if (name == "binom" || name == "dbinom" || name == "tbinom") {
    Expr n = ReadOperand();
    Expr k = n == nullptr ? nullptr : ReadOperand();
    return k == nullptr ? nullptr : Function("binomial", {n, k});
  }
  if (name == "mathbb" || name == "mathbf" || name == "mathcal") {
    if (!IsSign("{")) return Fail("\"{\"");
    const std::string set = ReadRawGroup();
    if (name == "mathbb" && set.size() == 1 &&
        std::string_view("RQZNC").find(set[0]) != std::string_view::npos) {
      return Make(Op::kNumberSet, {}, set);
    }
    return ReadSymbol(set);
  }
  if (name == "emptyset" || name == "varnothing") return Make(Op::kSet);
  if (name == "boxed" || name == "fbox" || name == "underline") {
    return ReadGroup();
  }
  // A segment stands for its length.
  if (name == "overline" && IsSign("{") && IsCapital(1) && IsCapital(2) &&
      IsSign("}", 3)) {
    return ReadGroup();
  }
  if ((name == "overline" || name == "bar") && IsSign("{")) {
    if (Expr conjugate = ReadConjugate()) return conjugate;
  }
  if (name == "overline" || name == "bar" || name == "vec" || name == "hat" ||
      name == "widehat" || name == "tilde" || name == "overrightarrow" ||
      name == "dot" || name == "angle" || name == "triangle") {
    std::string what = IsSign("{") ? ReadRawGroup() : Take().text;
    while ((name == "angle" || name == "triangle") &&
           Peek().kind == TokenKind::kLetter) {
      what += Take().text;
    }
    if (what.empty()) return Fail("a symbol");
    // A unit vector is its letter, as in \mathbf{i}.
    if (what == "imath" || what == "\\imath") what = "i";
    if (what == "jmath" || what == "\\jmath") what = "j";
    const bool arrow = name == "vec" || name == "overrightarrow";
    const bool axis =
        (arrow || name == "hat") && (what == "i" || what == "j" || what == "k");
    if (axis && what == "i") return Make(Op::kImaginary);
    const bool plain = arrow || axis;
    return ReadSymbol(plain ? what : absl::StrCat(name, " ", what));
  }
  if (name == "begin") return ReadEnvironment();
  if (name == "sum" || name == "prod") return ReadBigOperator(name);
  if (name == "int") return ReadIntegral();
  if (name == "lim") return ReadLimit();
  if (name == "lbrace" && IsCommand("begin")) return ReadSystem();
  if (name == "lbrace") return ReadBraceSet();
  const auto fenced = [this](std::string_view close,
                             const char* function) -> Expr {
    const int bars = std::exchange(bars_, 0);
    Expr e = ReadSum();
    bars_ = bars;
    if (e == nullptr) return nullptr;
    if (!SkipCommand(close)) return Fail(close);
    return Function(function, {e});
  };
  if (name == "lfloor") return fenced("rfloor", "floor");
  if (name == "lceil") return fenced("rceil", "ceil");
  if (name == "lvert") return fenced("rvert", "abs");
  if (name == "lVert") return fenced("rVert", "abs");
  if (name == "vert") return fenced("vert", "abs");
  if (IsSign("(") && IsConstructor(name)) return ReadConstructor(name);
  if (name == "langle") {
    std::vector<Expr> items;
    do {
      Expr item = ReadItem();
      if (item == nullptr) return nullptr;
      items.push_back(std::move(item));
    } while (SkipSign(",") || SkipSign(";"));
    if (!SkipCommand("rangle")) return Fail("\\rangle");
    return Make(Op::kTuple, std::move(items));
  }
  if (name == "dollar" || name == "euro" || name == "pounds" || name == "yen" ||
      name == "rupee") {
    return ReadCurrency(name);
  }
  if (AnyCount(name) && IsSign("=")) return Symbol(name);
  if (!FunctionName(name).empty()) return ReadFunction(name);
  if ((name == "Gamma" || name == "zeta") && IsSign("(")) {
    std::vector<Expr> args = ReadArguments();
    if (args.size() != 1 || !IsScalar(*args[0])) return Fail("one argument");
    if (name == "zeta") return Function("zeta", std::move(args));
    return Function("factorial", {Add(args[0], Number(-1))});
  }
  static constexpr std::string_view kSymbols[] = {
      "alpha",  "beta",  "gamma",    "delta", "epsilon", "varepsilon", "zeta",
      "eta",    "theta", "vartheta", "iota",  "kappa",   "lambda",     "mu",
      "nu",     "xi",    "rho",      "sigma", "tau",     "upsilon",    "phi",
      "varphi", "chi",   "psi",      "omega", "Gamma",   "Delta",      "Theta",
      "Lambda", "Xi",    "Pi",       "Sigma", "Phi",     "Psi",        "Omega",
      "ell",    "hbar"};
  for (const std::string_view symbol : kSymbols) {
    if (symbol == name) {
      return ReadSymbol(name.starts_with("var") ? name.substr(3) : name);
    }
  }
  // A command that the author defined.
  if (!IsKnownCommand(name)) return ReadSymbol(name);
  --at_;
  return Fail("a number or a symbol");
}

}  // namespace espalier
