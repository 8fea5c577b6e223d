#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/prompt/jinja_lexer.h"
#include "models/prompt/jinja_tree.h"

namespace espalier {
namespace {

using Expression = JinjaExpression;
using ExpressionPtr = JinjaExpressionPtr;
using Kind = JinjaExpression::Kind;
using Token = JinjaTokenKind;

constexpr int kDeepestBlocks = 100;      // brackets and blocks in one another
constexpr int kDeepestExpression = 500;  // of one expression

// After the first error everything is the end of the template.
class JinjaParser {
 public:
  explicit JinjaParser(std::vector<JinjaToken> tokens)
      : tokens_(std::move(tokens)) {}

  absl::StatusOr<std::vector<JinjaNode>> Run() {
    std::vector<JinjaNode> nodes = Nodes({});
    if (status_.ok() && Is(Token::kBlock)) {
      Fail(absl::StrCat("an unexpected {% ", tokens_[at_ + 1].text, " %}"));
    }
    if (!status_.ok()) return status_;
    return nodes;
  }

 private:
  const JinjaToken& Now() const { return tokens_[at_]; }
  bool Is(Token kind) const { return Now().kind == kind; }
  bool IsOperator(std::string_view text) const {
    return Is(Token::kOperator) && Now().text == text;
  }
  bool IsName(std::string_view text) const {
    return Is(Token::kName) && Now().text == text;
  }
  bool IsTag(std::string_view name) const {
    return Is(Token::kBlock) && tokens_[at_ + 1].kind == Token::kName &&
           tokens_[at_ + 1].text == name;
  }
  bool TakeOperator(std::string_view text) {
    if (!IsOperator(text)) return false;
    ++at_;
    return true;
  }
  bool TakeName(std::string_view text) {
    if (!IsName(text)) return false;
    ++at_;
    return true;
  }
  std::string Found() const {
    switch (Now().kind) {
      case Token::kEnd:
      case Token::kText:
        return "the end of the tag";
      case Token::kBlockEnd:
        return "%}";
      case Token::kPrintEnd:
        return "}}";
      default:
        return Now().text;
    }
  }
  void Fail(std::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat("line ", Now().line, ": ", AbslView(what)));
    at_ = tokens_.size() - 1;
  }
  void Expect(std::string_view text) {
    if (!TakeOperator(text)) {
      Fail(absl::StrCat("expected ", AbslView(text), ", found ", Found()));
    }
  }
  std::string Name() {
    if (!Is(Token::kName)) {
      Fail(absl::StrCat("expected a name, found ", Found()));
      return "";
    }
    return tokens_[at_++].text;
  }
  void EndTag(Token kind = Token::kBlockEnd) {
    if (!Is(kind)) {
      return Fail(absl::StrCat("expected ",
                               kind == Token::kBlockEnd ? "%}" : "}}",
                               ", found ", Found()));
    }
    ++at_;
  }

  // Statements up to a tag of `ends`, which is left.
  std::vector<JinjaNode> Nodes(const std::vector<std::string_view>& ends) {
    std::vector<JinjaNode> nodes;
    if (++depth_ > kDeepestBlocks) Fail("blocks stand too deep in one another");
    while (status_.ok() && !Is(Token::kEnd)) {
      JinjaNode node;
      node.line = Now().line;
      if (Is(Token::kText)) {
        node.name = tokens_[at_++].text;
      } else if (Is(Token::kPrint)) {
        ++at_;
        node.kind = JinjaNode::Kind::kPrint;
        node.value = Tuple();
        EndTag(Token::kPrintEnd);
      } else {
        const bool ended = std::any_of(ends.begin(), ends.end(),
                                       [&](auto name) { return IsTag(name); });
        if (ended) break;
        if (ends.empty() && (IsTag("else") || IsTag("elif"))) break;
        ++at_;
        Statement(node);
      }
      nodes.push_back(std::move(node));
    }
    --depth_;
    return nodes;
  }

  // The end tag of a block.
  void End(std::string_view name) {
    if (!IsTag(name)) {
      return Fail(absl::StrCat("expected {% ", AbslView(name), " %}"));
    }
    at_ += 2;
    // {% endmacro name %}
    if (Is(Token::kName)) ++at_;
    EndTag();
  }

  void Statement(JinjaNode& node) {
    const std::string tag = Name();
    if (tag == "if") return If(node, "endif");
    if (tag == "for") return For(node);
    if (tag == "set") return Set(node);
    if (tag == "macro") return Macro(node);
    if (tag == "break" || tag == "continue") {
      node.kind =
          tag == "break" ? JinjaNode::Kind::kBreak : JinjaNode::Kind::kContinue;
      return EndTag();
    }
    // Marks what is trained on.
    if (tag == "generation") {
      EndTag();
      node.kind = JinjaNode::Kind::kBody;
      node.body = Nodes({"endgeneration"});
      return End("endgeneration");
    }
    Fail(absl::StrCat("the tag ", tag,
                      " is none that chat templates use (if, for, set, macro, "
                      "break, continue, generation)"));
  }

  void If(JinjaNode& node, std::string_view end) {
    node.kind = JinjaNode::Kind::kIf;
    node.value = Tuple();
    EndTag();
    node.body = Nodes({"elif", "else", end});
    if (IsTag("elif")) {
      if (++depth_ > kDeepestBlocks) return Fail("too many elif");
      JinjaNode inner;
      inner.line = Now().line;
      at_ += 2;
      If(inner, end);
      node.otherwise.push_back(std::move(inner));
      --depth_;
      return;
    }
    if (IsTag("else")) {
      at_ += 2;
      EndTag();
      node.otherwise = Nodes({end});
    }
    End(end);
  }

  std::vector<std::string> Targets() {
    std::vector<std::string> names;
    const bool bracket = TakeOperator("(");
    do {
      names.push_back(Name());
    } while (status_.ok() && TakeOperator(","));
    if (bracket) Expect(")");
    return names;
  }

  void For(JinjaNode& node) {
    node.kind = JinjaNode::Kind::kFor;
    node.names = Targets();
    if (!TakeName("in")) Fail("expected in after the names of a loop");
    node.value = Or();
    if (TakeName("if")) node.condition = Conditional();
    if (TakeName("recursive")) Fail("recursive loops are not supported");
    EndTag();
    node.body = Nodes({"else", "endfor"});
    if (IsTag("else")) {
      at_ += 2;
      EndTag();
      node.otherwise = Nodes({"endfor"});
    }
    End("endfor");
  }

  void Set(JinjaNode& node) {
    node.kind = JinjaNode::Kind::kSet;
    node.names = Targets();
    if (node.names.size() == 1 && TakeOperator(".")) node.name = Name();
    if (TakeOperator("=")) {
      node.value = Tuple();
      return EndTag();
    }
    node.kind = JinjaNode::Kind::kSetBlock;
    // {% set x | trim %}
    if (IsOperator("|")) {
      node.value = std::make_unique<Expression>();
      node.value->line = Now().line;
      node.value->kind = Kind::kName;
      node.value->name = node.names[0];
      node.value = Filters(std::move(node.value));
    }
    EndTag();
    node.body = Nodes({"endset"});
    End("endset");
  }

  void Macro(JinjaNode& node) {
    node.kind = JinjaNode::Kind::kMacro;
    node.name = Name();
    Expect("(");
    while (status_.ok() && !IsOperator(")")) {
      node.names.push_back(Name());
      if (TakeOperator("=")) {
        node.defaults.push_back(Conditional());
      } else if (!node.defaults.empty()) {
        Fail("a parameter without a default follows one with it");
      }
      if (!TakeOperator(",")) break;
    }
    Expect(")");
    EndTag();
    node.body = Nodes({"endmacro"});
    End("endmacro");
  }

  ExpressionPtr Make(Kind kind, ExpressionPtr first = nullptr,
                     ExpressionPtr second = nullptr) {
    auto out = std::make_unique<Expression>();
    out->kind = kind;
    out->line = Now().line;
    if (first) Adopt(*out, std::move(first));
    if (second) Adopt(*out, std::move(second));
    return out;
  }

  // Adds a part. Trees that are too deep would overflow the stack.
  void Adopt(Expression& parent, ExpressionPtr part) {
    Deepen(parent, part.get());
    parent.parts.push_back(std::move(part));
  }
  void Deepen(Expression& parent, const Expression* part) {
    if (part == nullptr) return;
    parent.depth = std::max(parent.depth, part->depth + 1);
    if (parent.depth > kDeepestExpression) Fail("an expression is too long");
  }

  // One expression, or several with commas between them.
  ExpressionPtr Tuple() {
    ExpressionPtr first = Conditional();
    if (!IsOperator(",")) return first;
    ExpressionPtr list = Make(Kind::kList, std::move(first));
    while (status_.ok() && TakeOperator(",")) {
      if (Is(Token::kBlockEnd) || Is(Token::kPrintEnd)) break;
      Adopt(*list, Conditional());
    }
    return list;
  }

  ExpressionPtr Conditional() {
    if (++depth_ > kDeepestBlocks)
      Fail("brackets stand too deep in one another");
    ExpressionPtr value = Or();
    while (status_.ok() && TakeName("if")) {
      ExpressionPtr out = Make(Kind::kIf, Or(), std::move(value));
      Adopt(*out, TakeName("else") ? Conditional() : nullptr);
      value = std::move(out);
    }
    --depth_;
    return value;
  }

  ExpressionPtr Or() {
    ExpressionPtr left = And();
    while (status_.ok() && TakeName("or")) {
      left = Make(Kind::kOr, std::move(left), And());
    }
    return left;
  }

  ExpressionPtr And() {
    ExpressionPtr left = Not();
    while (status_.ok() && TakeName("and")) {
      left = Make(Kind::kAnd, std::move(left), Not());
    }
    return left;
  }

  ExpressionPtr Not() {
    if (!TakeName("not")) return Comparison();
    if (++depth_ > kDeepestBlocks) Fail("too many not");
    ExpressionPtr out = Make(Kind::kNot, Not());
    --depth_;
    return out;
  }

  ExpressionPtr Binary(std::string_view name, ExpressionPtr left,
                       ExpressionPtr right) {
    ExpressionPtr out = Make(Kind::kBinary, std::move(left), std::move(right));
    out->name = std::string(name);
    return out;
  }

  // a < b < c is (a < b) and (b < c), of which b is computed twice.
  ExpressionPtr Comparison() {
    ExpressionPtr left = Sum();
    ExpressionPtr all;
    size_t begin = 0;  // of the last operand
    while (status_.ok()) {
      std::string name;
      for (const char* one : {"==", "!=", "<=", ">=", "<", ">"}) {
        if (IsOperator(one)) name = one;
      }
      if (IsName("in")) name = "in";
      if (IsName("not") && tokens_[at_ + 1].kind == Token::kName &&
          tokens_[at_ + 1].text == "in") {
        name = "not in";
      }
      if (name.empty()) break;
      at_ += name == "not in" ? 2 : 1;
      if (left == nullptr) {
        const size_t here = std::exchange(at_, begin);
        left = Sum();
        at_ = here;
      }
      begin = at_;
      ExpressionPtr right = Sum();
      ExpressionPtr one = Binary(name, std::move(left), std::move(right));
      all = all ? Make(Kind::kAnd, std::move(all), std::move(one))
                : std::move(one);
      left = nullptr;
    }
    return all ? std::move(all) : std::move(left);
  }

  ExpressionPtr Sum() {
    ExpressionPtr left = Join();
    while (status_.ok() && (IsOperator("+") || IsOperator("-"))) {
      const std::string name = tokens_[at_++].text;
      left = Binary(name, std::move(left), Join());
    }
    return left;
  }

  ExpressionPtr Join() {
    ExpressionPtr left = Product();
    while (status_.ok() && TakeOperator("~")) {
      left = Binary("~", std::move(left), Product());
    }
    return left;
  }

  ExpressionPtr Product() {
    ExpressionPtr left = Power();
    while (status_.ok() && (IsOperator("*") || IsOperator("/") ||
                            IsOperator("//") || IsOperator("%"))) {
      const std::string name = tokens_[at_++].text;
      left = Binary(name, std::move(left), Power());
    }
    return left;
  }

  ExpressionPtr Power() {
    ExpressionPtr left = Unary(true);
    while (status_.ok() && TakeOperator("**")) {
      left = Binary("**", std::move(left), Unary(true));
    }
    return left;
  }

  ExpressionPtr Unary(bool filters) {
    ExpressionPtr out;
    if (IsOperator("-") || IsOperator("+")) {
      const bool minus = tokens_[at_++].text == "-";
      if (++depth_ > kDeepestBlocks) Fail("too many signs");
      out = Unary(false);
      --depth_;
      if (minus) out = Make(Kind::kNegative, std::move(out));
    } else {
      out = Primary();
    }
    out = Postfix(std::move(out));
    return filters ? Filters(std::move(out)) : std::move(out);
  }

  ExpressionPtr Constant(JinjaValue value) {
    ExpressionPtr out = Make(Kind::kConstant);
    out->value = std::move(value);
    return out;
  }

  ExpressionPtr Primary() {
    const JinjaToken& token = Now();
    switch (token.kind) {
      case Token::kName: {
        const std::string name = Name();
        if (name == "true" || name == "True") return Constant(true);
        if (name == "false" || name == "False") return Constant(false);
        if (name == "none" || name == "None") {
          return Constant(JinjaValue::None{});
        }
        ExpressionPtr out = Make(Kind::kName);
        out->name = name;
        return out;
      }
      case Token::kString: {
        std::string text;
        while (Is(Token::kString)) text += tokens_[at_++].text;
        return Constant(std::move(text));
      }
      case Token::kInt: {
        int64_t value = 0;
        if (absl::SimpleAtoi(token.text, &value)) {
          ++at_;
        } else {
          Fail(absl::StrCat(token.text, " is too large"));
        }
        return Constant(value);
      }
      case Token::kFloat: {
        double value = 0;
        if (absl::SimpleAtod(token.text, &value)) {
          ++at_;
        } else {
          Fail("expected a number");
        }
        return Constant(value);
      }
      default:
        break;
    }
    if (TakeOperator("(")) {
      if (TakeOperator(")")) return Make(Kind::kList);
      ExpressionPtr first = Conditional();
      if (IsOperator(",")) {
        first = Make(Kind::kList, std::move(first));
        Items(*first, ")");
        return first;
      }
      Expect(")");
      return first;
    }
    if (TakeOperator("[")) {
      ExpressionPtr out = Make(Kind::kList);
      Items(*out, "]");
      return out;
    }
    if (TakeOperator("{")) {
      ExpressionPtr out = Make(Kind::kDict);
      while (status_.ok() && !IsOperator("}")) {
        Adopt(*out, Conditional());
        Expect(":");
        Adopt(*out, Conditional());
        if (!TakeOperator(",")) break;
      }
      Expect("}");
      return out;
    }
    Fail(absl::StrCat("expected a value, found ", Found()));
    return Make(Kind::kConstant);
  }

  // The rest of a list, with its bracket.
  void Items(Expression& list, std::string_view end) {
    if (!list.parts.empty()) Expect(",");
    while (status_.ok() && !IsOperator(end)) {
      Adopt(list, Conditional());
      if (!TakeOperator(",")) break;
    }
    Expect(end);
  }

  void Arguments(Expression& call) {
    Expect("(");
    while (status_.ok() && !IsOperator(")")) {
      if (IsOperator("*") || IsOperator("**")) {
        Fail("arguments with * are not supported");
      }
      if (Is(Token::kName) && tokens_[at_ + 1].kind == Token::kOperator &&
          tokens_[at_ + 1].text == "=") {
        std::string name = Name();
        ++at_;
        call.named.emplace_back(std::move(name), Conditional());
        Deepen(call, call.named.back().second.get());
      } else {
        Adopt(call, Conditional());
      }
      if (!TakeOperator(",")) break;
    }
    Expect(")");
  }

  ExpressionPtr Postfix(ExpressionPtr value) {
    while (status_.ok()) {
      if (TakeOperator(".")) {
        if (Is(Token::kInt)) {
          value = Make(Kind::kItem, std::move(value), Primary());
          continue;
        }
        value = Make(Kind::kField, std::move(value));
        value->name = Name();
      } else if (TakeOperator("[")) {
        value = Subscript(std::move(value));
      } else if (IsOperator("(")) {
        value = Make(Kind::kCall, std::move(value));
        Arguments(*value);
      } else {
        break;
      }
    }
    return value;
  }

  ExpressionPtr Subscript(ExpressionPtr value) {
    ExpressionPtr bounds[3];
    int colons = 0;
    while (status_.ok() && !IsOperator("]")) {
      if (TakeOperator(":")) {
        if (++colons > 2) Fail("expected at most two colons");
      } else {
        bounds[colons] = Conditional();
        if (!IsOperator(":") && !IsOperator("]")) {
          Fail(absl::StrCat("expected ], found ", Found()));
        }
      }
      if (!status_.ok()) return value;
    }
    Expect("]");
    if (colons == 0) {
      if (bounds[0] == nullptr) Fail("expected an index");
      return Make(Kind::kItem, std::move(value), std::move(bounds[0]));
    }
    ExpressionPtr out = Make(Kind::kSlice, std::move(value));
    for (ExpressionPtr& bound : bounds) Adopt(*out, std::move(bound));
    return out;
  }

  // Filters, tests and the calls and fields of their results.
  ExpressionPtr Filters(ExpressionPtr value) {
    while (status_.ok()) {
      if (TakeOperator("|")) {
        value = Make(Kind::kFilter, std::move(value));
        value->name = Name();
        if (IsOperator("(")) Arguments(*value);
      } else if (TakeName("is")) {
        value = Test(std::move(value));
      } else if (IsOperator("(")) {
        value = Make(Kind::kCall, std::move(value));
        Arguments(*value);
      } else {
        break;
      }
    }
    return value;
  }

  ExpressionPtr Test(ExpressionPtr value) {
    const bool negated = TakeName("not");
    ExpressionPtr out = Make(Kind::kTest, std::move(value));
    out->name = Name();
    if (IsOperator("(")) {
      Arguments(*out);
    } else if ((Is(Token::kName) && !IsName("else") && !IsName("or") &&
                !IsName("and") && !IsName("is") && !IsName("if") &&
                !IsName("in") && !IsName("not")) ||
               Is(Token::kString) || Is(Token::kInt) || Is(Token::kFloat) ||
               IsOperator("[") || IsOperator("{")) {
      Adopt(*out, Postfix(Primary()));
    }
    return negated ? Make(Kind::kNot, std::move(out)) : std::move(out);
  }

  std::vector<JinjaToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::vector<JinjaNode>> ParseJinja(std::string_view source) {
  ESP_ASSIGN_OR_RETURN(std::vector<JinjaToken> tokens, LexJinja(source));
  return JinjaParser(std::move(tokens)).Run();
}

}  // namespace espalier
