#include <algorithm>

#include "datasets/answers/value/answer.h"
#include "datasets/answers/value/calculus.h"
#include "datasets/answers/value/matrix.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

constexpr size_t kMostListed = 400;

// A left-hand side that only names its value: x, f(x), AB/CD, A:B, (x, y). No
// numbers, no sums.
bool IsName(const ExprNode& e) {
  switch (e.op) {
    case Op::kSymbol:
    case Op::kApply:
      return true;
    case Op::kMultiply:
    case Op::kRatio:
    case Op::kTuple:
    case Op::kSet:
      return !e.args.empty() &&
             std::all_of(e.args.begin(), e.args.end(),
                         [](const Expr& arg) { return IsName(*arg); });
    case Op::kPower:
      // sigma^2 names a variance.
      return IsName(*e.args[0]) && e.args[1]->op == Op::kNumber &&
             (e.args[1]->value == BigRational(-1) ||
              (e.args[0]->op == Op::kSymbol && e.args[0]->name == "sigma"));
    // The measure of a segment or an angle.
    case Op::kQuantity:
      return IsName(*e.args[0]);
    case Op::kE:
    case Op::kImaginary:
      return false;
    case Op::kFunction:
      return e.name == "abs" && IsName(*e.args[0]);
    case Op::kText:
      return true;
    default:
      return false;
  }
}

// One tree per choice of signs. Signs written differently, as in "+- a -+ b",
// are linked; "+- a +- b" vary independently. At most 8.
void CollectSigns(const ExprNode& e, int& plus, int& minus) {
  if (e.op == Op::kPlusMinus) {
    (e.value.sign() > 0 ? plus : minus) += 1;
  }
  for (const Expr& arg : e.args) CollectSigns(*arg, plus, minus);
}

Expr WithSigns(const Expr& e, unsigned choice, int& seen, bool linked) {
  if (e->args.empty()) return e;
  unsigned bit = 0;
  const bool here = e->op == Op::kPlusMinus;
  if (here) bit = linked ? choice & 1 : (choice >> seen++) & 1;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) {
    args.push_back(WithSigns(arg, choice, seen, linked));
  }
  if (here) {
    const bool minus = (bit != 0) == (e->value.sign() > 0);
    return minus ? Negate(args[0]) : args[0];
  }
  return WithArgs(*e, std::move(args));
}

std::vector<Expr> SignChoices(const Expr& e) {
  int plus = 0, minus = 0;
  CollectSigns(*e, plus, minus);
  const bool linked = minus > 0 || plus > 3;
  const unsigned bits = linked ? 1 : static_cast<unsigned>(plus);
  std::vector<Expr> out;
  for (unsigned choice = 0; choice < (1U << bits); ++choice) {
    int seen = 0;
    out.push_back(WithSigns(e, choice, seen, linked));
  }
  return out;
}

// "cos A = 4/5" and "d^2y/dx^2 = 6x" only name the value they give.
bool Names(const ExprNode& left, const ExprNode& right) {
  static constexpr std::string_view kAngles[] = {"sin", "cos", "tan",
                                                 "cot", "sec", "csc"};
  if (left.op == Op::kFunction &&
      std::find(std::begin(kAngles), std::end(kAngles), left.name) !=
          std::end(kAngles)) {
    return IsName(*left.args[0]) && IsScalar(right) && !HasSymbol(right);
  }
  if (left.op != Op::kMultiply || left.args.size() != 2) return false;
  // d^2 y over d x^2
  const auto differential = [](const ExprNode& e) {
    return e.op == Op::kMultiply && e.args.size() == 2 &&
           (e.args[0]->op == Op::kSymbol || e.args[0]->op == Op::kPower) &&
           FreeSymbols(*e.args[0]) == std::vector<std::string>{"d"};
  };
  const ExprNode& bottom = *left.args[1];
  return bottom.op == Op::kPower && bottom.args[1]->op == Op::kNumber &&
         bottom.args[1]->value == BigRational(-1) &&
         differential(*left.args[0]) && differential(*bottom.args[0]);
}

// "k in Z" next to other items only says what k is.
bool IsQualifier(const ExprNode& e) {
  return e.op == Op::kRelation && e.args.size() == 2 &&
         e.relations[0] == "in" && e.args[1]->op == Op::kNumberSet &&
         e.args[1]->name != "R";
}

class Interpreter {
 public:
  explicit Interpreter(ValueComparer& comparer) : comparer_(comparer) {}

  Answer Read(const Expr& e) {
    Answer out = ReadShape(e);
    out.from = e;
    return out;
  }

 private:
  Answer Other() { return {}; }

  Answer ReadShape(const Expr& e) {
    const bool list = e->op == Op::kList || e->op == Op::kSet;
    if (auto excluded = ReadExcluded(*e)) return *excluded;
    if (!list && Contains(*e, Op::kPlusMinus)) return ReadSigns(e);
    if (Contains(*e, Op::kMatrix) && IsScalar(*e)) return ReadMatrix(e);
    // "A(1, 2)" is a named point.
    if (e->op == Op::kMultiply && e->args.size() == 2 &&
        e->args[0]->op == Op::kSymbol && e->args[0]->name[0] >= 'A' &&
        e->args[0]->name[0] <= 'Z' && e->args[1]->op == Op::kTuple) {
      Answer out = ReadTuple(e->args[1]);
      out.name = e->args[0];
      return out;
    }
    if (IsScalar(*e)) {
      Answer out;
      out.kind = Kind::kValue;
      out.expr = e;
      return out;
    }
    switch (e->op) {
      case Op::kTuple:
        return ReadTuple(e);
      case Op::kList:
        return ReadList(*e);
      case Op::kSet: {
        Answer out = ReadItems(e->args);
        out.braces = true;
        return out;
      }
      case Op::kMatrix:
        return ReadMatrix(e);
      case Op::kCases: {
        Answer out = ReadItems(e->args);
        return out;
      }
      case Op::kInterval:
      case Op::kUnion:
      case Op::kIntersection:
      case Op::kWithout:
      case Op::kNumberSet:
        return ReadRegion(e);
      case Op::kRelation:
        return ReadRelation(*e);
      case Op::kCongruence: {
        Answer out;
        out.kind = Kind::kCongruence;
        out.items.push_back(Read(e->args[0]));
        out.expr = e->args[1];
        return out;
      }
      case Op::kRatio: {
        Answer out = ReadItems(e->args);
        out.kind = Kind::kRatio;
        return out;
      }
      case Op::kText:
        return TextAnswer(FoldWords(e->name));
      default:
        return Other();
    }
  }

  // "x != +-1", "x != 1, 2": the real line without these points.
  std::optional<Answer> ReadExcluded(const ExprNode& e) {
    const bool list = e.op == Op::kList && e.args.size() > 1;
    const ExprNode& relation = list ? *e.args[0] : e;
    if (relation.op != Op::kRelation || relation.args.size() != 2 ||
        relation.relations[0] != "!=" || relation.args[0]->op != Op::kSymbol ||
        e.args.size() > 20) {
      return std::nullopt;
    }
    std::vector<Expr> points{relation.args[1]};
    if (list) points.insert(points.end(), e.args.begin() + 1, e.args.end());
    Region out = WholeLine();
    for (const Expr& point : points) {
      if (!IsScalar(*point) || HasSymbol(*point)) return std::nullopt;
      for (const Expr& value : SignChoices(point)) {
        const auto rest = Complement(Point(value), comparer_);
        auto both = rest ? Intersection(out, *rest, comparer_) : std::nullopt;
        if (!both) return std::nullopt;
        out = std::move(*both);
      }
    }
    Answer answer;
    answer.kind = Kind::kRegion;
    answer.region = std::move(out);
    answer.name = relation.args[0];
    return answer;
  }

  Answer ReadSigns(const Expr& e) {
    Answer out;
    out.kind = Kind::kList;
    for (const Expr& choice : SignChoices(e)) {
      Answer item = Read(choice);
      if (out.name == nullptr) out.name = item.name;
      item.name = nullptr;
      out.items.push_back(std::move(item));
    }
    out.braces = true;
    return out;
  }

  Answer ReadTuple(const Expr& e) {
    Answer out = ReadItems(e->args);
    out.kind = Kind::kTuple;
    if (e->args.size() == 2) {
      if (const auto region = RegionOf(*e, comparer_)) {
        out.pair = true;
        out.region = *region;
      }
    }
    return out;
  }

  Answer ReadItems(const std::vector<Expr>& args) {
    Answer out;
    out.kind = Kind::kList;
    for (const Expr& arg : args) {
      Answer item = Read(arg);
      // "1, +-2" holds three numbers. "x = {}" is one item that holds none.
      if (item.kind == Kind::kList && item.from->op != Op::kSet &&
          !item.items.empty()) {
        for (Answer& inner : item.items) {
          if (inner.name == nullptr) inner.name = item.name;
          out.items.push_back(std::move(inner));
        }
      } else {
        out.items.push_back(std::move(item));
      }
      if (out.items.size() > kMostListed) break;
    }
    return out;
  }

  Answer ReadList(const ExprNode& e) {
    std::vector<Expr> args;
    std::string index;
    for (const Expr& arg : e.args) {
      if (!IsQualifier(*arg)) {
        args.push_back(arg);
      } else if (arg->args[0]->op == Op::kSymbol) {
        index = arg->args[0]->name;
      }
    }
    if (args.empty()) args = e.args;
    if (args.size() == 1) {
      Answer only = Read(args[0]);
      only.index = index;
      return only;
    }
    Answer out = ReadItems(args);
    for (Answer& item : out.items) item.index = index;
    // "x < 1 or x > 3"; "x > 1 and x < 3".
    const bool regions =
        std::all_of(out.items.begin(), out.items.end(), [](const Answer& item) {
          return item.kind == Kind::kRegion && item.from->op == Op::kRelation;
        });
    if (!regions) {
      // "n = 1, 2, 3": the name belongs to the whole list.
      const bool first_only =
          out.items[0].name != nullptr &&
          std::all_of(out.items.begin() + 1, out.items.end(),
                      [](const Answer& item) { return item.name == nullptr; });
      if (first_only) {
        out.name = out.items[0].name;
        out.items[0].name = nullptr;
      }
      return out;
    }
    Region joined = out.items[0].region;
    for (size_t i = 1; i < out.items.size(); ++i) {
      const Region& next = out.items[i].region;
      if (out.items[i].name == nullptr || out.items[0].name == nullptr ||
          !SameTree(*out.items[i].name, *out.items[0].name)) {
        return out;
      }
      auto both = e.name == "or" ? Union(joined, next, comparer_)
                                 : Intersection(joined, next, comparer_);
      if (both && both->empty()) both = Union(joined, next, comparer_);
      if (!both) return out;
      joined = std::move(*both);
    }
    Answer region;
    region.kind = Kind::kRegion;
    region.region = std::move(joined);
    region.name = out.items[0].name;
    return region;
  }

  Answer ReadMatrix(const Expr& e) {
    const auto matrix = EvaluateMatrix(*e);
    if (!matrix) {
      if (!IsScalar(*e)) return Other();
      Answer out;
      out.kind = Kind::kValue;
      out.expr = e;
      return out;
    }
    if (matrix->scalar) return Read(matrix->cells[0]);
    Answer out;
    out.kind = Kind::kMatrix;
    out.columns = matrix->columns;
    for (const Expr& cell : matrix->cells) out.items.push_back(Read(cell));
    return out;
  }

  Answer ReadRegion(const Expr& e) {
    Answer out;
    // A union of sets of points is a set.
    if (e->op == Op::kUnion &&
        std::all_of(e->args.begin(), e->args.end(),
                    [](const Expr& arg) { return arg->op == Op::kSet; })) {
      std::vector<Expr> all;
      for (const Expr& arg : e->args) {
        all.insert(all.end(), arg->args.begin(), arg->args.end());
      }
      out = ReadItems(all);
      out.braces = true;
      return out;
    }
    if (auto region = RegionOf(*e, comparer_)) {
      out.kind = Kind::kRegion;
      out.region = std::move(*region);
      return out;
    }
    // Unions of unordered intervals with symbolic ends.
    if (e->op == Op::kUnion) return ReadItems(e->args);
    return Other();
  }

  // "6 = 7", "x = 1 = 7": numbers stated to be equal that are not. An error
  // between a name and its value, as in "x = 5 + 5 + 1 = 7 = 11", does not
  // count if the last one is the calculated value.
  bool Contradicts(const ExprNode& e) {
    const auto number = [](const ExprNode& side) {
      static constexpr Op kOthers[] = {Op::kApply, Op::kPlusMinus,
                                       Op::kText,  Op::kMatrix,
                                       Op::kTuple, Op::kInfinity};
      return IsScalar(side) && !HasSymbol(side) &&
             std::none_of(std::begin(kOthers), std::end(kOthers),
                          [&side](Op op) { return Contains(side, op); });
    };
    const bool named = IsName(*e.args[0]) && e.args[0]->op != Op::kText;
    bool contradicts = false;
    for (size_t i = 0; i < e.relations.size() && i < 20; ++i) {
      const Expr &a = e.args[i], &b = e.args[i + 1];
      if (e.relations[i] != "=" || !number(*a) || !number(*b)) continue;
      const bool plain = RationalValue(*a) && RationalValue(*b);
      const bool units = (a->op == Op::kQuantity) != (b->op == Op::kQuantity);
      contradicts |= (plain || !named) && !units && comparer_.Contradict(a, b);
    }
    if (!contradicts || !named) return contradicts;
    return std::none_of(
        e.args.begin(), e.args.end() - 1, [&](const Expr& side) {
          return number(*side) && comparer_.Equal(side, e.args.back());
        });
  }

  // "12 ~ 13": no rounding turns one into the other.
  static bool FarApart(const ExprNode& a, const ExprNode& b) {
    const auto x = RationalValue(a), y = RationalValue(b);
    if (!x || !y || !x->integer() || !y->integer()) return false;
    const BigRational apart = (*x - *y).Absolute() * BigRational(20);
    return x->Absolute() < apart && y->Absolute() < apart;
  }

  Answer ReadRelation(const ExprNode& whole) {
    ExprNode e = whole;
    // The text behind the last "=>" is the conclusion.
    for (size_t i = e.relations.size(); i > 0; --i) {
      // "2x = 8 \u2192 x = 4" concludes, "x \u2192 0" does not.
      const auto arrow = e.relations.begin() + static_cast<long>(i) - 1;
      const bool between =
          *arrow == "->" &&
          std::find(e.relations.begin(), arrow, "=") != arrow &&
          std::find(arrow, e.relations.end(), "=") != e.relations.end();
      if (!between && *arrow != "=>" && *arrow != "<=>") continue;
      e.args.erase(e.args.begin(), e.args.begin() + static_cast<long>(i));
      e.relations.erase(e.relations.begin(),
                        e.relations.begin() + static_cast<long>(i));
      break;
    }
    if (e.relations.empty()) return Read(e.args[0]);
    // "x = 1/3 ~ 0.33": the value is exact, the rest is a remark.
    for (size_t i = 0; i < e.relations.size(); ++i) {
      if (e.relations[i] != "~") continue;
      if (FarApart(*e.args[i], *e.args[i + 1])) return Other();
      if (i == 0) continue;
      e.args.resize(i + 1);
      e.relations.resize(i);
    }
    if (e.relations.size() == 1 && e.relations[0] == "~" &&
        !IsName(*e.args[0])) {
      return Read(e.args[0]);
    }
    for (std::string& relation : e.relations) {
      if (relation == "->") relation = "=";
    }
    if (Contradicts(e)) return Other();
    for (std::string& relation : e.relations) {
      if (relation == "~" || relation == "==") {
        relation = "=";
      }
    }
    const bool equalities =
        std::all_of(e.relations.begin(), e.relations.end(),
                    [](const std::string& r) { return r == "="; });
    if (equalities) return ReadEquality(e);
    std::string symbol;
    if (auto region = RegionOfRelation(e, comparer_, &symbol)) {
      Answer out;
      out.kind = Kind::kRegion;
      out.region = std::move(*region);
      out.name = Symbol(symbol);
      return out;
    }
    if (e.relations.size() == 1 && e.relations[0] == "in") {
      Answer out = Read(e.args[1]);
      out.name = e.args[0];
      return out;
    }
    return ReadInequality(e);
  }

  Answer ReadEquality(const ExprNode& e) {
    const Expr& first = e.args.front();
    const Expr& last = e.args.back();
    if ((IsName(*first) && first->op != Op::kText) || Names(*first, *last)) {
      Answer out = Read(last);
      if (out.name == nullptr) out.name = first;
      return out;
    }
    if (first->op == Op::kText) return Read(last);
    // "m + n = 100 + 13 = 113" is a calculation.
    if (e.args.size() > 2 && IsScalar(*first) && IsScalar(*last) &&
        !HasSymbol(*last) && IsScalar(*e.args[e.args.size() - 2]) &&
        !HasSymbol(*e.args[e.args.size() - 2])) {
      Answer out = Read(last);
      if (out.name == nullptr && HasSymbol(*first)) out.name = first;
      return out;
    }
    if (IsName(*last) && IsScalar(*last) && !HasSymbol(*first)) {
      Answer out = Read(first);
      out.name = last;
      return out;
    }
    if (!IsScalar(*first) || !IsScalar(*last)) return Other();
    // A calculation: "2 + 3 = 5".
    if (!HasSymbol(*first) && !HasSymbol(*last) &&
        !Contains(*first, Op::kApply)) {
      return Read(last);
    }
    if (Contains(*first, Op::kMatrix) || Contains(*last, Op::kMatrix)) {
      return Other();
    }
    Answer out;
    out.kind = Kind::kEquation;
    out.expr = Add(first, Negate(last));
    return out;
  }

  // a x + b > 0 in one symbol.
  std::optional<Region> SolveLinear(const Answer& inequality) {
    const Expr& f = inequality.expr;
    const std::vector<std::string> symbols = FreeSymbols(*f);
    if (symbols.size() != 1 || Contains(*f, Op::kApply)) return std::nullopt;
    const Expr at0 = Substitute(f, symbols[0], Number(0));
    const Expr slope = Add(Substitute(f, symbols[0], Number(1)), Negate(at0));
    const auto sign = comparer_.Order(slope, Number(0));
    if (!sign || *sign == 0 ||
        !comparer_.Equal(f, Add(Multiply(slope, Symbol(symbols[0])), at0))) {
      return std::nullopt;
    }
    RegionPiece piece;
    const Expr root = Negate(Divide(at0, slope));
    const Expr infinity = Make(Op::kInfinity);
    piece.low = *sign > 0 ? root : Multiply(Number(-1), infinity);
    piece.high = *sign > 0 ? infinity : root;
    piece.closed_low = *sign > 0 && inequality.closed;
    piece.closed_high = *sign < 0 && inequality.closed;
    return Region{piece};
  }

  Answer ReadInequality(const ExprNode& e) {
    Answer out;
    if (e.relations.size() == 1 && IsScalar(*e.args[0]) &&
        IsScalar(*e.args[1])) {
      const std::string& relation = e.relations[0];
      const bool less = relation == "<" || relation == "<=";
      const bool more = relation == ">" || relation == ">=";
      if (less || more) {
        out.kind = Kind::kInequality;
        out.expr = less ? Add(e.args[1], Negate(e.args[0]))
                        : Add(e.args[0], Negate(e.args[1]));
        out.closed = relation.size() == 2;
        if (auto region = SolveLinear(out)) {
          Answer solved;
          solved.kind = Kind::kRegion;
          solved.region = std::move(*region);
          solved.name = Symbol(FreeSymbols(*out.expr)[0]);
          return solved;
        }
        return out;
      }
    }
    // A chain: its sides in increasing order, as a tuple.
    const bool down =
        std::all_of(e.relations.begin(), e.relations.end(),
                    [](const std::string& r) { return r == ">" || r == ">="; });
    const bool up =
        std::all_of(e.relations.begin(), e.relations.end(),
                    [](const std::string& r) { return r == "<" || r == "<="; });
    if (!down && !up) return Other();
    out = ReadItems(e.args);
    out.kind = Kind::kTuple;
    for (const std::string& relation : e.relations) {
      out.text += relation.size() == 2 ? "=" : "<";
    }
    if (down) {
      std::reverse(out.items.begin(), out.items.end());
      std::reverse(out.text.begin(), out.text.end());
    }
    return out;
  }

  ValueComparer& comparer_;
};

}  // namespace

Answer TextAnswer(std::string folded) {
  Answer out;
  out.kind = Kind::kText;
  const std::string_view meaning = ReadAs(folded);
  if (meaning == "\\emptyset") {
    out.kind = Kind::kList;
    out.braces = true;
  } else if (meaning == "\\mathbb{R}") {
    out.kind = Kind::kRegion;
    out.region = WholeLine();
  } else if (!meaning.empty()) {
    folded = std::string(meaning);
  }
  out.text = std::move(folded);
  return out;
}

Answer Interpret(const Expr& tree, ValueComparer& comparer) {
  // In "\\int x dx = x^2/2 + C" the right-hand side is the answer.
  if (tree->op == Op::kRelation &&
      std::all_of(tree->relations.begin(), tree->relations.end(),
                  [](const std::string& r) { return r == "="; })) {
    const Op op = tree->args[0]->op;
    if (op == Op::kIntegral || op == Op::kLimit || op == Op::kSum ||
        op == Op::kProduct || op == Op::kDerivative) {
      return Interpret(tree->args.back(), comparer);
    }
  }
  return Interpreter(comparer).Read(ResolveCalculus(tree));
}

}  // namespace espalier
