#include "datasets/answers/notation/parser.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/answers/notation/parser_state.h"
#include "datasets/answers/notation/remarks.h"
#include "datasets/answers/value/ellipsis.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// The relation that a sign or command stands for; else empty.
std::string_view RelationOf(const Token& token) {
  static constexpr struct {
    std::string_view spelling, relation;
  } kRelations[] = {{"=", "="},
                    {"==", "="},
                    {"<", "<"},
                    {">", ">"},
                    {"<=", "<="},
                    {">=", ">="},
                    {"!=", "!="},
                    {"le", "<="},
                    {"leq", "<="},
                    {"leqslant", "<="},
                    {"leqq", "<="},
                    {"ge", ">="},
                    {"geq", ">="},
                    {"geqslant", ">="},
                    {"geqq", ">="},
                    {"lt", "<"},
                    {"gt", ">"},
                    {"ne", "!="},
                    {"neq", "!="},
                    {"in", "in"},
                    {"notin", "notin"},
                    {"approx", "~"},
                    {"simeq", "~"},
                    {"sim", "~"},
                    {"cong", "~"},
                    {"equiv", "=="},
                    {"subset", "subset"},
                    {"subseteq", "subset"},
                    {"to", "->"},
                    {"rightarrow", "->"},
                    {"->", "->"},
                    {"mapsto", "->"},
                    {"longrightarrow", "->"},
                    {"implies", "=>"},
                    {"Rightarrow", "=>"},
                    {"=>", "=>"},
                    {"iff", "<=>"},
                    {"Leftrightarrow", "<=>"},
                    {"<=>", "<=>"},
                    {"perp", "perp"},
                    {"parallel", "parallel"}};
  if (token.kind != TokenKind::kSign && token.kind != TokenKind::kCommand) {
    return {};
  }
  for (const auto& entry : kRelations) {
    if (entry.spelling == token.text) return entry.relation;
  }
  return {};
}

// "5{,}000" and "12,\\!345" as "5_000": these commas do not separate items.
// "1{:}4" as "1:4".
std::string WithoutSpacedCommas(std::string_view text) {
  std::string out;
  const auto digit = [text](size_t at) {
    return at < text.size() && Digit(text[at]);
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const size_t length =
        rest.starts_with("{,}") || rest.starts_with(",\\!") ? 3 : 0;
    const size_t next = at + length;
    if (length > 0 && at > 0 && digit(at - 1) && digit(next) &&
        digit(next + 1) && digit(next + 2) && !digit(next + 3)) {
      out += '_';
      at = next - 1;
    } else if (rest.starts_with("{:}")) {
      out += ':';
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

bool IsShape(const ExprNode& e) {
  return e.op == Op::kInterval || e.op == Op::kTuple || e.op == Op::kSet ||
         e.op == Op::kNumberSet || e.op == Op::kUnion;
}

// How many equations "x = ..., y = ..." come before the names repeat; 0 if they
// do not.
size_t NamePeriod(const std::vector<Expr>& items) {
  std::vector<std::string> names;
  for (const Expr& item : items) {
    if (item->op != Op::kRelation || item->relations[0] != "=" ||
        item->args[0]->op != Op::kSymbol) {
      return 0;
    }
    names.push_back(item->args[0]->name);
  }
  const auto again = std::find(names.begin() + 1, names.end(), names[0]);
  const size_t period = static_cast<size_t>(again - names.begin());
  if (period < 2 || again == names.end() || names.size() % period != 0) {
    return 0;
  }
  for (size_t i = period; i < names.size(); ++i) {
    if (names[i] != names[i - period]) return 0;
  }
  return period;
}

}  // namespace

bool Parser::Expect(std::string_view sign) {
  if (SkipSign(sign)) return true;
  Fail(absl::StrCat("\"", AbslView(sign), "\""));
  return false;
}

Expr Parser::Fail(std::string_view expected) {
  if (error_.empty()) {
    error_ = absl::StrCat("expected ", AbslView(expected), ", found ",
                          AtEnd() ? "the end" : "\"" + Peek().text + "\"",
                          " (token ", at_ + 1, ")");
  }
  return nullptr;
}

Expr Parser::ReadAnswer() {
  Expr e = ReadItems(true);
  if (e != nullptr && !AtEnd()) return Fail("an operator or the end");
  return e;
}

// Words up to the next joining word: a text.
Expr Parser::ReadWords() {
  std::string words;
  while (Peek().kind == TokenKind::kText || Peek().kind == TokenKind::kLetter ||
         Peek().kind == TokenKind::kNumber) {
    if (!words.empty()) words += ' ';
    words += Take().text;
  }
  return Make(Op::kText, {}, words);
}

// "1, 2 and 3": items with commas, semicolons, "and", "or" between.
Expr Parser::ReadItems(bool top) {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  std::vector<Expr> items;
  std::string joint = ",";
  // Start of each group that a semicolon ends: "x=1, y=2; x=3, y=4".
  std::vector<size_t> groups{0};
  bool commas = false;
  bool left_out = false;
  while (true) {
    if (!items.empty() && !left_out && SkipSign("...")) {
      left_out = true;
      if (SkipSign(",") || SkipSign(";")) continue;
      // "2, 4, 6, ..." continues forever.
      items.push_back(Make(Op::kText, {}, "and so on"));
      left_out = false;
    } else {
      Expr item = ReadItem();
      if (item == nullptr) return nullptr;
      if (left_out) {
        auto between = ItemsThrough(items, item);
        if (!between) return Fail("items that determine the omitted ones");
        for (Expr& one : *between) items.push_back(std::move(one));
        left_out = false;
      }
      items.push_back(std::move(item));
    }
    bool more = false;
    while (true) {
      if (SkipSign(",")) {
        commas = true;
      } else if (SkipSign(";")) {
        groups.push_back(items.size());
      } else if (top && (SkipSign("\\\\") || SkipSign("&"))) {
      } else if (SkipCommand("and") || SkipCommand("land") ||
                 SkipCommand("wedge")) {
        joint = "and";
      } else if (SkipCommand("or") || SkipCommand("lor") ||
                 SkipCommand("vee")) {
        joint = "or";
      } else {
        break;
      }
      more = true;
    }
    if (!more) break;
    if (AtEnd() && top) break;
    if (items.size() > 400) return Fail("fewer items");
  }
  if (items.size() == 1) return items[0];
  if (top && groups.size() == 1) {
    // "x=1, y=2 or x=2, y=1"
    const size_t period = NamePeriod(items);
    for (size_t at = period; period > 0 && at < items.size(); at += period) {
      groups.push_back(at);
    }
    commas |= period > 0;
  }
  if (!top || !commas || groups.size() < 2) {
    return Make(Op::kList, std::move(items), joint);
  }
  std::vector<Expr> tuples;
  groups.push_back(items.size());
  for (size_t g = 1; g < groups.size(); ++g) {
    std::vector<Expr> group(
        items.begin() + static_cast<std::ptrdiff_t>(groups[g - 1]),
        items.begin() + static_cast<std::ptrdiff_t>(groups[g]));
    if (group.size() == 1) tuples.push_back(group[0]);
    if (group.size() > 1) tuples.push_back(Make(Op::kTuple, std::move(group)));
  }
  return Make(Op::kList, std::move(tuples), joint);
}

// One item: set expressions joined by relations.
Expr Parser::ReadItem() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  // "about 5", "= 5".
  if (Peek().kind == TokenKind::kText && Peek(1).kind != TokenKind::kEnd &&
      IsPhrase(Peek().text, Reading::kNearly)) {
    ++at_;
  }
  if (RelationOf(Peek()) == "~" || RelationOf(Peek()) == "=") ++at_;
  Expr first;
  if (Peek().kind == TokenKind::kText && !IsSign("_", 1)) {
    first = ReadWords();
    // "the number of ways = 5"
    if (!IsSign("=")) return first;
  } else {
    first = ReadSetExpr();
  }
  if (first == nullptr) return nullptr;
  auto relation = std::make_shared<ExprNode>();
  relation->op = Op::kRelation;
  relation->args.push_back(first);
  while (true) {
    std::string name(RelationOf(Peek()));
    if (name.empty()) break;
    ++at_;
    if (IsSign("=") && (name == "<" || name == ">")) {
      ++at_;
      name += "=";
    }
    Expr next;
    const bool set = name == "in" && Peek().kind == TokenKind::kLetter &&
                     std::string_view("RQZN").find(Peek().text[0]) !=
                         std::string_view::npos &&
                     Peek(1).kind != TokenKind::kLetter;
    if (Peek().kind == TokenKind::kText) {
      next = ReadWords();
    } else if (set) {
      next = ReadPostfix(Make(Op::kNumberSet, {}, Take().text));
      if (SkipSign("_")) Take();
      SkipSign("*");
    } else {
      next = ReadSetExpr();
    }
    if (next == nullptr) return nullptr;
    relation->relations.push_back(name);
    relation->args.push_back(std::move(next));
    if (relation->args.size() > 100) return Fail("fewer relations");
  }
  // "3 (mod 7)", "x = 3 \pmod 7".
  size_t mod = 0;
  if (IsCommand("pmod")) mod = 1;
  if (IsSign("(") && (IsCommand("mod", 1) || IsCommand("bmod", 1))) mod = 2;
  if (mod > 0) {
    at_ += mod;
    Expr modulus = mod == 1 ? ReadOperand() : ReadSum();
    if (modulus == nullptr || (mod == 2 && !Expect(")"))) return nullptr;
    return Make(Op::kCongruence, {relation->args.back(), modulus});
  }
  Expr item = relation->args.size() == 1 ? first : Expr(relation);
  // "k\\pi (k \\in \\mathbb{Z})"
  if (BeginsQualifier()) {
    ++at_;
    Expr qualifier = ReadItem();
    if (qualifier == nullptr || !Expect(")")) return nullptr;
    return Make(Op::kList, {std::move(item), std::move(qualifier)}, ",");
  }
  return item;
}

// "(k \\in ..." behind an item.
bool Parser::BeginsQualifier() const {
  return IsSign("(") && Peek(1).kind == TokenKind::kLetter &&
         (IsCommand("in", 2) || (IsSign(",", 2) && IsCommand("in", 4)));
}

// Unions, intersections and differences of sets.
Expr Parser::ReadSetExpr() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  Expr left = ReadSum();
  if (left != nullptr && !no_colon_ && (IsSign(":") || IsCommand("colon"))) {
    std::vector<Expr> parts{left};
    while (SkipSign(":") || SkipCommand("colon")) {
      Expr part = ReadSum();
      if (part == nullptr) return nullptr;
      parts.push_back(std::move(part));
    }
    left = Make(Op::kRatio, std::move(parts));
  }
  if (left != nullptr && Peek().kind == TokenKind::kText &&
      Peek().text == "to" && Peek(1).kind == TokenKind::kNumber) {
    ++at_;
    Expr right = ReadSum();
    if (right == nullptr) return nullptr;
    left = Make(Op::kRatio, {std::move(left), std::move(right)});
  }
  int sets = 0;
  while (left != nullptr) {
    Op op = Op::kUnion;
    if (SkipCommand("cup") || SkipCommand("bigcup") ||
        (IsShape(*left) && IsLetter("U") && (++at_, true))) {
    } else if (SkipCommand("cap") || SkipCommand("bigcap")) {
      op = Op::kIntersection;
    } else if (SkipCommand("setminus") || SkipCommand("backslash") ||
               SkipCommand("smallsetminus") || SkipSign("\\")) {
      op = Op::kWithout;
    } else {
      break;
    }
    Expr right = ReadSum();
    if (right == nullptr) return nullptr;
    if (op == Op::kUnion && left->op == Op::kUnion && left->args.size() < 100) {
      std::vector<Expr> args = left->args;
      args.push_back(std::move(right));
      left = Make(op, std::move(args));
    } else {
      left = Make(op, {std::move(left), std::move(right)});
    }
    if (++sets > 100) return Fail("fewer sets");
  }
  return left;
}

Expr Parser::ReadSum() {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  std::vector<Expr> terms;
  while (true) {
    bool minus = false;
    int either = 0;
    bool sign = false;
    while (true) {
      if (SkipSign("-")) {
        minus = !minus;
      } else if (SkipCommand("pm")) {
        either = 1;
      } else if (SkipCommand("mp")) {
        either = -1;
      } else if (!SkipSign("+")) {
        break;
      }
      sign = true;
    }
    if (!terms.empty() && !sign) break;
    Expr term = ReadTerm();
    if (term == nullptr) return nullptr;
    if (!terms.empty() && minus && terms.size() == 1 && either == 0 &&
        (IsShape(*terms[0]) || term->op == Op::kSet)) {
      terms[0] = Make(Op::kWithout, {terms[0], term});
      continue;
    }
    if (minus) term = Negate(std::move(term));
    if (either != 0) {
      auto node = std::make_shared<ExprNode>();
      node->op = Op::kPlusMinus;
      node->value = either;
      node->args.push_back(std::move(term));
      term = node;
    }
    terms.push_back(std::move(term));
    if (IsSign("...")) return Fail("a finite sum");
    // "1 + 2 + ... + 10"
    if (IsSign("+") && IsSign("...", 1) && IsSign("+", 2)) {
      at_ += 3;
      Expr last = ReadTerm();
      if (last == nullptr) return nullptr;
      Expr sum = SumThrough(terms, last);
      if (sum == nullptr)
        return Fail("a sum whose terms determine the omitted ones");
      terms = {std::move(sum)};
    }
  }
  if (terms.size() == 1) return terms[0];
  return Make(Op::kAdd, std::move(terms));
}

bool Parser::StartsFactor() const {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kEnd:
      return false;
    case TokenKind::kNumber:
      return true;
    case TokenKind::kLetter:
      return !(in_integral_ && token.text == "d" &&
               (Peek(1).kind == TokenKind::kLetter ||
                Peek(1).kind == TokenKind::kCommand));
    case TokenKind::kText:
      return false;
    case TokenKind::kSign:
      if (token.text == "|") return bars_ == 0;
      if (token.text == "(") {
        return !BeginsQualifier() && !IsCommand("mod", 1) &&
               !IsCommand("bmod", 1);
      }
      // "]1, 2[" as in France.
      if (token.text == "[" && brackets_ > 0 &&
          (Peek(1).kind == TokenKind::kEnd || IsCommand("cup", 1) ||
           IsCommand("cap", 1) || IsSign(",", 1) || IsSign("}", 1))) {
        return false;
      }
      return token.text == "[" || token.text == "{";
    case TokenKind::kCommand:
      break;
  }
  static constexpr std::string_view kNot[] = {
      "and",       "or",        "cup",           "cap",
      "setminus",  "backslash", "smallsetminus", "times",
      "cdot",      "ast",       "div",           "pm",
      "mp",        "mod",       "bmod",          "pmod",
      "to",        "rfloor",    "rceil",         "rangle",
      "rbrace",    "rvert",     "rVert",         "rbrack",
      "end",       "mid",       "colon",         "percent",
      "choose",    "over",      "circ",          "degree",
      "prime",     "land",      "lor",           "wedge",
      "vee",       "star",      "bigcup",        "bigcap",
      "factorial", "euro",      "pounds",        "yen",
      "cents",     "rupee",     "textdegree",    "vert"};
  if (!RelationOf(token).empty()) return false;
  if (BeginsUnitFraction()) return false;
  // "5 \$": a currency sign behind its number.
  if (token.text == "dollar") return Peek(1).kind == TokenKind::kNumber;
  return std::find(std::begin(kNot), std::end(kNot), token.text) ==
         std::end(kNot);
}

bool Parser::ReadOperator(std::string& op) {
  op.clear();
  if (SkipSign("*") || SkipCommand("times") || SkipCommand("cdot") ||
      SkipCommand("ast") || SkipCommand("star")) {
    op = "*";
    return true;
  }
  if (IsLetter("x") && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::kNumber &&
      Peek(1).kind == TokenKind::kNumber && Peek(1).text == "10" &&
      IsSign("^", 2)) {
    // 3 x 10^5.
    ++at_;
    op = "*";
    return true;
  }
  if (SkipSign("/") || SkipCommand("div")) {
    op = "/";
    return true;
  }
  if (IsCommand("mod") || IsCommand("bmod")) {
    ++at_;
    op = "mod";
    return true;
  }
  return false;
}

// Factors with or without signs between. The argument of "\log xy" is such a
// product too; it ends before another function.
Expr Parser::ReadProduct(bool of_function) {
  const Deeper deeper(*this);
  if (depth_ > kDeepest) return Fail("less nesting");
  const size_t start = at_;
  Expr left = ReadFactor();
  if (left == nullptr) return nullptr;
  std::vector<Expr> factors{left};
  const auto joined = [&factors] {
    return factors.size() == 1 ? factors[0] : Make(Op::kMultiply, factors);
  };
  const auto function = [this] {
    static constexpr std::string_view kFunctions[] = {
        "sin",  "cos",  "tan", "cot",    "sec",    "csc",    "log",
        "ln",   "lg",   "exp", "arcsin", "arccos", "arctan", "sinh",
        "cosh", "tanh", "lim", "sum",    "int",    "prod"};
    return Peek().kind == TokenKind::kCommand &&
           std::find(std::begin(kFunctions), std::end(kFunctions),
                     Peek().text) != std::end(kFunctions);
  };
  std::string op;
  while (true) {
    if (factors.size() > 400) return Fail("fewer factors");
    if (!of_function && ReadOperator(op)) {
      Expr right;
      if (SkipSign("-")) {
        right = ReadFactor();
        if (right != nullptr) right = Negate(std::move(right));
      } else {
        SkipSign("+");
        right = op == "/" ? ReadDenominator() : ReadFactor();
      }
      if (right == nullptr) return nullptr;
      if (op == "/") {
        right = Power(std::move(right), Number(-1));
      } else if (op == "mod") {
        if (right->op == Op::kMatrix) return Fail("a number");
        Expr dividend = joined();
        factors = {Function("mod", {std::move(dividend), std::move(right)})};
        continue;
      }
      factors.push_back(std::move(right));
      continue;
    }
    if (of_function && (function() || IsSign("(") || IsSign("["))) break;
    if (!StartsFactor()) break;
    // "2^6 3^5" is a product, "2 3" is not.
    if (Peek().kind == TokenKind::kNumber &&
        tokens_[at_ - 1].kind == TokenKind::kNumber &&
        factors.back()->op != Op::kPower) {
      return Fail("an operator between two numbers");
    }
    if (IsLetter("U") && IsShape(*factors.back())) break;
    Expr right = ReadFactor();
    if (right == nullptr) return nullptr;
    factors.push_back(std::move(right));
  }
  Expr e = joined();
  if (const std::string run = RunFrom(start);
      factors.size() > 2 && run.size() == factors.size()) {
    e = Make(Op::kMultiply, std::move(factors), run);
  }
  if (!of_function && !ReadUnits(e)) return nullptr;
  return e;
}

// Behind "/": in "t/RC" both letters divide, in "x/2y" and "a/b c" only the
// first factor does.
Expr Parser::ReadDenominator() {
  const bool run = Peek().kind == TokenKind::kLetter &&
                   Peek(1).kind == TokenKind::kLetter &&
                   !Peek(1).space_before && !IsLetter("d", 0);
  Expr right = ReadFactor();
  while (run && right != nullptr && Peek().kind == TokenKind::kLetter &&
         !Peek().space_before) {
    Expr next = ReadFactor();
    if (next == nullptr) return nullptr;
    right = Multiply(std::move(right), std::move(next));
  }
  return right;
}

// The letters read since `start`, if nothing else was read and they form one
// word.
std::string Parser::RunFrom(size_t start) const {
  std::string run;
  for (size_t i = start; i < at_; ++i) {
    const Token& token = tokens_[i];
    if (token.kind != TokenKind::kLetter || (i > start && token.space_before)) {
      return {};
    }
    run += token.text;
  }
  return run;
}

absl::StatusOr<Expr> ParseMath(std::string_view text,
                               const LexOptions& options) {
  if (text.size() > kLongestMath) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected at most ", kLongestMath, " bytes, found ", text.size()));
  }
  const std::string clean = CleanMath(WithoutSpacedCommas(text));
  std::vector<Token> tokens = Lex(clean, options);
  if (tokens.empty()) {
    const bool blank = TrimBlanks(clean).empty();
    return absl::InvalidArgumentError(
        blank ? "found nothing"
              : absl::StrCat("expected at most ", kMostTokens, " tokens"));
  }
  DropRemarks(tokens);
  Parser parser(std::move(tokens));
  Expr e = parser.ReadAnswer();
  if (e == nullptr) return absl::InvalidArgumentError(parser.error());
  return e;
}

}  // namespace espalier
