#include <algorithm>
#include <cctype>
#include <functional>

#include "absl/strings/str_cat.h"
#include "datasets/answers/value/answer.h"
#include "datasets/answers/words/clean_text.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

AnswerVerdict Yes(std::string reason) { return {true, std::move(reason)}; }
AnswerVerdict No(std::string reason) { return {false, std::move(reason)}; }
AnswerVerdict Unknown(std::string reason) {
  return {false, std::move(reason), true};
}

std::string_view KindName(const Answer& a) {
  switch (a.kind) {
    case Kind::kValue:
      return "a value";
    case Kind::kList:
      return a.braces ? "a set" : "a list";
    case Kind::kTuple:
      return a.text.empty() ? "a tuple" : "a chain";
    case Kind::kMatrix:
      return "a matrix";
    case Kind::kRegion:
      return "an interval";
    case Kind::kEquation:
      return "an equation";
    case Kind::kInequality:
      return "an inequality";
    case Kind::kCongruence:
      return "a congruence";
    case Kind::kRatio:
      return "a ratio";
    case Kind::kText:
      return "words";
    case Kind::kOther:
      return "an expression";
  }
  return "an expression";
}

AnswerVerdict KindsDiffer(const Answer& a, const Answer& b) {
  return No(absl::StrCat("gold is ", std::string(KindName(a)), " (",
                         Describe(a), "), the answer ",
                         std::string(KindName(b)), " (", Describe(b), ")"));
}

AnswerVerdict ValuesDiffer(const Answer& a, const Answer& b) {
  return No(
      absl::StrCat("gold is ", Describe(a), ", the answer ", Describe(b)));
}

class Comparison {
 public:
  Comparison(ValueComparer& comparer, const GradePolicy& policy)
      : comparer_(comparer), policy_(policy) {}

  AnswerVerdict Compare(const Answer& a, const Answer& b) {
    if (++calls_ > kMostCalls) return Unknown("too many parts to compare");
    // A list of one item is that item.
    if (IsItsItem(a, b)) return Compare(Inherit(a), b);
    if (IsItsItem(b, a)) return Compare(a, Inherit(b));
    // "1/2 or 0.5" says one thing twice.
    if (a.kind == Kind::kValue && SaysOnce(b)) return Compare(a, Inherit(b));
    if (b.kind == Kind::kValue && SaysOnce(a)) return Compare(Inherit(a), b);
    if (a.name != nullptr && b.name != nullptr) {
      const AnswerVerdict named = CompareNamed(a, b);
      if (named.equal || a.kind != Kind::kValue || b.kind != Kind::kValue) {
        return named;
      }
      const AnswerVerdict equations = CompareEquations(a, b);
      return equations.equal ? equations : named;
    }
    if (a.kind == Kind::kEquation || b.kind == Kind::kEquation) {
      return CompareEquations(a, b);
    }
    return CompareShapes(a, b);
  }

 private:
  static constexpr int kMostCalls = 2000;

  bool SaysOnce(const Answer& list) {
    if (list.kind != Kind::kList || list.braces || list.items.size() < 2 ||
        list.items.size() > 4) {
      return false;
    }
    return std::all_of(
        list.items.begin(), list.items.end(), [&](const Answer& item) {
          return item.kind == Kind::kValue && item.name == nullptr &&
                 comparer_.Equal(list.items[0].expr, item.expr);
        });
  }

  // Inside other items and other braces, {1} is not 1.
  bool IsItsItem(const Answer& list, const Answer& other) const {
    if (list.kind != Kind::kList || list.items.size() != 1 ||
        other.kind == Kind::kList) {
      return false;
    }
    const bool nested =
        list.items[0].kind == Kind::kList && list.items[0].braces;
    return !list.braces ||
           (inside_ == 0 && !nested && other.kind != Kind::kRegion);
  }

  static Answer Inherit(const Answer& list) {
    Answer item = list.items[0];
    if (item.name == nullptr) item.name = list.name;
    return item;
  }

  // x = 1 against y = 1: different names are different answers, but f(x) = x +
  // 1 is f(t) = t + 1, and y = x + 1 may be written f(x) = x + 1.
  AnswerVerdict CompareNamed(const Answer& a, const Answer& b) {
    if (!policy_.strict_symbols || SameTree(*a.name, *b.name) ||
        a.kind == Kind::kRegion || b.kind == Kind::kRegion) {
      const bool regions = a.kind == Kind::kRegion && b.kind == Kind::kRegion;
      if (regions && policy_.strict_symbols && !SameTree(*a.name, *b.name)) {
        return No(absl::StrCat("gold is about ", Describe(*a.name),
                               ", the answer about ", Describe(*b.name)));
      }
      return CompareShapes(a, b);
    }
    const ExprNode& x = *a.name;
    const ExprNode& y = *b.name;
    if (x.op == Op::kApply && y.op == Op::kApply && x.name == y.name &&
        x.args.size() == y.args.size()) {
      Answer renamed = b;
      for (size_t i = 0; i < x.args.size(); ++i) {
        if (SameTree(*x.args[i], *y.args[i])) continue;
        if (x.args[i]->op != Op::kSymbol || y.args[i]->op != Op::kSymbol) {
          return No(absl::StrCat("gold gives ", Describe(x), ", the answer ",
                                 Describe(y)));
        }
        if (renamed.kind == Kind::kValue) {
          renamed.expr = Substitute(renamed.expr, y.args[i]->name, x.args[i]);
        }
      }
      return CompareShapes(a, renamed);
    }
    // x_1 and x_2 are values of x.
    if (x.op == Op::kSymbol && y.op == Op::kSymbol &&
        BaseName(x.name) == BaseName(y.name) &&
        (x.name == BaseName(x.name) || y.name == BaseName(y.name))) {
      return CompareShapes(a, b);
    }
    // (x, y) = (3, 4) is (y, x) = (4, 3) and not (y, x) = (3, 4).
    if (x.op == Op::kTuple && y.op == Op::kTuple &&
        x.args.size() == b.items.size()) {
      const auto ordered = InOrderOf(x.args, y.args, b);
      if (!ordered) {
        return No(absl::StrCat("gold gives ", Describe(x), ", the answer ",
                               Describe(y)));
      }
      return CompareShapes(a, *ordered);
    }
    const bool curve = (x.op == Op::kApply && IsLetterY(y)) ||
                       (y.op == Op::kApply && IsLetterY(x));
    if (curve || x.op == Op::kTuple || y.op == Op::kTuple) {
      return CompareShapes(a, b);
    }
    return No(
        absl::StrCat("gold gives ", Describe(x), ", the answer ", Describe(y)));
  }

  // With the items named `names` in the order of `wanted`; nothing if those
  // are others.
  static std::optional<Answer> InOrderOf(const std::vector<Expr>& wanted,
                                         const std::vector<Expr>& names,
                                         const Answer& answer) {
    if (wanted.size() != names.size() || names.size() != answer.items.size()) {
      return std::nullopt;
    }
    Answer out = answer;
    for (size_t i = 0; i < wanted.size(); ++i) {
      size_t from = 0;
      while (from < names.size() &&
             (names[from] == nullptr || !SameTree(*names[from], *wanted[i]))) {
        ++from;
      }
      if (from == names.size()) return std::nullopt;
      out.items[i] = answer.items[from];
    }
    return out;
  }

  static std::vector<Expr> NamesOf(const Answer& list) {
    std::vector<Expr> names;
    for (const Answer& item : list.items) names.push_back(item.name);
    return names;
  }

  // A tuple or list against values with names, as "y = 3, x = 4": in the order
  // of the alphabet. As they stand they are no certain answer.
  AnswerVerdict CompareToNamed(const Answer& a, const Answer& b) {
    const bool second = Names(b) > 1;
    const Answer& named = second ? b : a;
    const Answer& plain = second ? a : b;
    const auto in_order = [&](const Answer& ordered) {
      return second ? CompareInOrder(a, ordered) : CompareInOrder(ordered, b);
    };
    const std::vector<Expr> names = NamesOf(named);
    const bool all = std::none_of(names.begin(), names.end(),
                                  [](const Expr& e) { return e == nullptr; });
    if (!all) return in_order(named);
    std::vector<Expr> wanted = names;
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Expr& x, const Expr& y) {
                       return Describe(*x) < Describe(*y);
                     });
    if (plain.name != nullptr && plain.name->op == Op::kTuple) {
      wanted = plain.name->args;
    }
    const auto ordered = InOrderOf(wanted, names, named);
    if (!ordered) return ValuesDiffer(a, b);
    AnswerVerdict verdict = in_order(*ordered);
    if (!verdict.equal && in_order(named).equal) {
      return Unknown("the names stand in another order");
    }
    return verdict;
  }

  static std::string_view BaseName(std::string_view name) {
    return name.substr(0, name.find('_'));
  }

  static bool IsLetterY(const ExprNode& e) {
    return e.op == Op::kSymbol && e.name == "y";
  }

  // name = value as name - value = 0.
  static Expr EquationOf(const Answer& a) {
    if (a.kind == Kind::kEquation) return a.expr;
    if (a.kind == Kind::kValue && a.name != nullptr && IsScalar(*a.name)) {
      return Add(a.name, Negate(a.expr));
    }
    return nullptr;
  }

  AnswerVerdict CompareEquations(const Answer& a, const Answer& b) {
    const Expr x = EquationOf(a), y = EquationOf(b);
    if (x == nullptr || y == nullptr) return KindsDiffer(a, b);
    if (const auto sign = comparer_.RatioSign(x, y)) {
      return Yes(absl::StrCat("both say ", Describe(*x), " = 0"));
    }
    if (SameTree(*x, *y) || comparer_.SameEquation(x, y)) {
      return Yes("both are the same equation");
    }
    return No(absl::StrCat("gold says ", Describe(*x), " = 0, the answer ",
                           Describe(*y), " = 0"));
  }

  AnswerVerdict CompareShapes(const Answer& a, const Answer& b) {
    if (a.kind == b.kind) {
      switch (a.kind) {
        case Kind::kValue:
          return CompareValues(a, b);
        case Kind::kList:
          return CompareLists(a, b);
        case Kind::kTuple:
          return CompareTuples(a, b);
        case Kind::kMatrix:
          if (a.columns != b.columns) return ValuesDiffer(a, b);
          return CompareInOrder(a, b);
        case Kind::kRegion:
          return CompareRegions(a, b);
        case Kind::kEquation:
          return CompareEquations(a, b);
        case Kind::kInequality:
          return CompareInequalities(a, b);
        case Kind::kCongruence:
          return CompareCongruences(a, b);
        case Kind::kRatio:
          return CompareRatios(a, b);
        case Kind::kText:
          // An article alone, as gold "a", folds to nothing.
          return a.text == b.text && !a.text.empty()
                     ? Yes("both say \"" + a.text + "\"")
                     : ValuesDiffer(a, b);
        case Kind::kOther:
          break;
      }
      if (a.from != nullptr && b.from != nullptr &&
          SameTree(*a.from, *b.from)) {
        return Yes("both are " + Describe(*a.from));
      }
      return ValuesDiffer(a, b);
    }
    if (const auto verdict = CompareMixed(a, b)) return *verdict;
    if (const auto verdict = CompareMixed(b, a)) {
      // A gold [2, 2] is 2; whether [2, 2] answers a gold 2 is another
      // question.
      if (verdict->equal && a.kind == Kind::kValue && b.kind == Kind::kRegion &&
          b.from != nullptr && b.from->op == Op::kInterval) {
        return Unknown("the answer is an interval of one number");
      }
      return verdict->equal || verdict->unknown ? *verdict : KindsDiffer(a, b);
    }
    return KindsDiffer(a, b);
  }

  // Whether the letters are in alphabetical order, as they mostly are in
  // products.
  static bool InOrder(std::string_view letters) {
    const bool small =
        std::islower(static_cast<unsigned char>(letters[0])) != 0;
    const bool one_case = std::all_of(
        letters.begin(), letters.end(),
        [small](unsigned char c) { return (std::islower(c) != 0) == small; });
    return one_case &&
           std::adjacent_find(letters.begin(), letters.end(),
                              std::greater_equal<>()) == letters.end();
  }

  // "abc" and "cab" are the same product but different words; nothing if either
  // side is not a lone run of letters.
  static std::optional<AnswerVerdict> CompareRuns(const Answer& a,
                                                  const Answer& b) {
    if (a.expr->op != Op::kMultiply || b.expr->op != Op::kMultiply ||
        a.expr->name.empty() || b.expr->name.empty() || a.name != nullptr ||
        b.name != nullptr) {
      return std::nullopt;
    }
    std::string x = a.expr->name, y = b.expr->name;
    if (x == y) return Yes("both are written " + x);
    // "Odd" is "odd"; "ABC" need not be "abc".
    if (x.substr(1) == y.substr(1) && FoldWords(x) == FoldWords(y)) {
      return Yes("both say \"" + y + "\"");
    }
    std::string reason =
        absl::StrCat("gold says \"", x, "\", the answer \"", y, "\"");
    const bool word = FoldWords(x) == FoldWords(y);
    const bool product = InOrder(x) || InOrder(y);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return word || (product && x == y) ? Unknown(std::move(reason))
                                       : No(std::move(reason));
  }

  AnswerVerdict CompareValues(const Answer& a, const Answer& b) {
    if (const auto runs = CompareRuns(a, b)) return *runs;
    Expr other = b.expr;
    if (!policy_.strict_symbols) {
      // Equal up to the names of the symbols, taken in order.
      const auto from = FreeSymbols(*b.expr), to = FreeSymbols(*a.expr);
      for (size_t i = 0; from.size() == to.size() && i < from.size(); ++i) {
        other = Substitute(other, from[i], Symbol(to[i]));
      }
    }
    if (!a.index.empty() && !b.index.empty() && a.index != b.index) {
      other = Substitute(other, b.index, Symbol(a.index));
    }
    // The integration constant has no fixed name.
    const std::string mine = AddedConstant(*a.expr);
    const std::string theirs = AddedConstant(*b.expr);
    if (!mine.empty() && !theirs.empty() && mine != theirs) {
      other = Substitute(other, theirs, Symbol(mine));
    }
    const ValueVerdict verdict = comparer_.Compare(a.expr, other);
    return {verdict.same == Sameness::kEqual, verdict.how,
            verdict.same == Sameness::kUnknown};
  }

  // The vector as a sum of the unit vectors that `sum` uses: i, j, k with or
  // without hats. Null if it uses none.
  static Expr InUnitVectors(const Answer& vector, const ExprNode& sum) {
    const size_t n = vector.items.size();
    if (n < 2 || n > 3) return nullptr;
    const std::vector<std::string> symbols = FreeSymbols(sum);
    const auto has = [&symbols](std::string_view name) {
      return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
    };
    const bool hats = has("hat i") || has("hat j") || has("hat k");
    if (!hats && !has("j") && !has("k")) return nullptr;
    std::vector<Expr> terms;
    for (size_t i = 0; i < n; ++i) {
      if (vector.items[i].kind != Kind::kValue) return nullptr;
      const std::string name(1, "ijk"[i]);
      Expr unit = hats     ? Symbol("hat " + name)
                  : i == 0 ? Make(Op::kImaginary)
                           : Symbol(name);
      terms.push_back(Multiply(vector.items[i].expr, std::move(unit)));
    }
    return Make(Op::kAdd, std::move(terms));
  }

  // "C" of "x^2 + C", "c" of "x^2 + c"; else empty.
  static std::string AddedConstant(const ExprNode& e) {
    if (e.op != Op::kAdd) return {};
    std::string name;
    for (const Expr& term : e.args) {
      if (term->op != Op::kSymbol) continue;
      if (term->name == "C" || term->name == "c") name = term->name;
    }
    const std::vector<std::string> symbols = FreeSymbols(e);
    for (const std::string& symbol : symbols) {
      if (symbol != name && (symbol == "C" || symbol == "c")) return {};
    }
    return symbols.size() > 1 ? name : std::string();
  }

  AnswerVerdict CompareInOrder(const Answer& a, const Answer& b) {
    if (a.items.size() != b.items.size()) {
      return No(absl::StrCat("gold has ", a.items.size(), " parts, the answer ",
                             b.items.size()));
    }
    std::string open;
    for (size_t i = 0; i < a.items.size(); ++i) {
      const AnswerVerdict part = CompareItems(a.items[i], b.items[i]);
      if (part.equal) continue;
      std::string reason = absl::StrCat("part ", i + 1, ": ", part.reason);
      if (!part.unknown) return No(std::move(reason));
      open = std::move(reason);
    }
    if (!open.empty()) return Unknown(std::move(open));
    return Yes("both are " + Describe(a));
  }

  AnswerVerdict CompareItems(const Answer& a, const Answer& b) {
    ++inside_;
    AnswerVerdict out = Compare(a, b);
    --inside_;
    return out;
  }

  // Whether `item` is in the list: certainly (kEqual) or possibly (kUnknown).
  // The first match is marked in `met`; positions already marked are tried
  // last.
  Sameness FindAmong(const Answer& item, const Answer& list,
                     std::vector<bool>& met, bool gold_first,
                     bool* repeats = nullptr) {
    Sameness found = Sameness::kDifferent;
    for (const bool again : {false, true}) {
      for (size_t i = 0; i < list.items.size(); ++i) {
        if (met[i] != again) continue;
        const AnswerVerdict same = gold_first
                                       ? CompareItems(item, list.items[i])
                                       : CompareItems(list.items[i], item);
        if (same.unknown) found = Sameness::kUnknown;
        if (!same.equal) continue;
        met[i] = true;
        if (again && repeats != nullptr) *repeats = true;
        return Sameness::kEqual;
      }
    }
    return found;
  }

  // Matches each item of one with an item of the other. Repeated items count
  // once, but lists of equal length must repeat the same items: "1, 1, 2" is
  // not "1, 2, 2".
  AnswerVerdict CompareUnordered(const Answer& a, const Answer& b) {
    std::vector<bool> met(b.items.size()), of_gold(a.items.size());
    std::string open;
    for (const Answer& item : a.items) {
      bool repeats = false;
      const Sameness found = FindAmong(item, b, met, true, &repeats);
      if (found == Sameness::kEqual && repeats && !a.braces && !b.braces &&
          a.items.size() == b.items.size()) {
        return No("the answer repeats different items than gold");
      }
      if (found == Sameness::kEqual) continue;
      std::string reason = "the answer lacks " + Describe(item) + " of gold";
      if (found == Sameness::kDifferent) return No(std::move(reason));
      open = std::move(reason);
    }
    for (size_t i = 0; i < b.items.size(); ++i) {
      if (met[i]) continue;
      const Sameness found = FindAmong(b.items[i], a, of_gold, false);
      if (found == Sameness::kEqual) continue;
      std::string reason =
          "gold lacks " + Describe(b.items[i]) + " of the answer";
      if (found == Sameness::kDifferent) return No(std::move(reason));
      open = std::move(reason);
    }
    if (!open.empty()) return Unknown("it is undecided whether " + open);
    return Yes("both hold " + Describe(a));
  }

  static int Names(const Answer& list) {
    return static_cast<int>(
        std::count_if(list.items.begin(), list.items.end(),
                      [](const Answer& item) { return item.name != nullptr; }));
  }

  AnswerVerdict CompareLists(const Answer& a, const Answer& b) {
    // "x = 1, y = 2" against "1, 2": the names give the order.
    const bool some_names = (Names(a) > 1) != (Names(b) > 1);
    const Answer& named = Names(a) > 1 ? a : b;
    bool distinct = false;
    for (const Answer& item : named.items) {
      distinct |= some_names && item.name != nullptr &&
                  named.items[0].name != nullptr &&
                  BaseName(Describe(*item.name)) !=
                      BaseName(Describe(*named.items[0].name));
    }
    // "x = 1, 2" are two values of x.
    const Answer& other = Names(a) > 1 ? b : a;
    const bool one_name = Names(other) == 1 || (other.name != nullptr &&
                                                other.name->op == Op::kSymbol);
    if (distinct && one_name) return ValuesDiffer(a, b);
    if (distinct) return CompareToNamed(a, b);
    if (policy_.list_order && !a.braces && !b.braces) {
      return CompareInOrder(a, b);
    }
    AnswerVerdict verdict = CompareUnordered(a, b);
    // "C, A, B" may answer a question for an order; "C and A" need not.
    if (verdict.equal && AreSymbols(a) && AreSymbols(b) && !JoinedByWords(b) &&
        !CompareInOrder(a, b).equal) {
      return Unknown("the same names in another order");
    }
    return verdict;
  }

  // A list of symbols without braces, which give no order.
  static bool AreSymbols(const Answer& list) {
    return !list.braces && list.items.size() > 1 &&
           std::all_of(
               list.items.begin(), list.items.end(), [](const Answer& item) {
                 return item.kind == Kind::kValue && item.name == nullptr &&
                        item.expr->op == Op::kSymbol;
               });
  }

  // "1 or 2", "1 and 2"
  static bool JoinedByWords(const Answer& list) {
    return list.from != nullptr && list.from->op == Op::kList &&
           (list.from->name == "or" || list.from->name == "and");
  }

  AnswerVerdict CompareTuples(const Answer& a, const Answer& b) {
    if (a.text != b.text) return KindsDiffer(a, b);
    if (!policy_.tuple_order && a.text.empty()) return CompareUnordered(a, b);
    return CompareInOrder(a, b);
  }

  // Written as "2 < x": (2, oo) may match such a gold answer whatever the
  // policy.
  AnswerVerdict CompareRegions(const Answer& a, const Answer& b) {
    if (!policy_.interval_is_inequality && !WrittenAsRelation(a) &&
        WrittenAsRelation(b)) {
      return KindsDiffer(a, b);
    }
    return SameRegion(a.region, b.region, comparer_)
               ? Yes("both are " + Describe(a.region))
               : ValuesDiffer(a, b);
  }

  static bool WrittenAsRelation(const Answer& a) {
    return a.from != nullptr && a.from->op == Op::kRelation &&
           a.from->relations[0] != "in";
  }

  AnswerVerdict CompareInequalities(const Answer& a, const Answer& b) {
    if (a.closed == b.closed) {
      const auto sign = comparer_.RatioSign(a.expr, b.expr);
      if (sign && *sign > 0) {
        return Yes(absl::StrCat("both say ", Describe(*a.expr), " > 0"));
      }
    }
    return ValuesDiffer(a, b);
  }

  AnswerVerdict CompareCongruences(const Answer& a, const Answer& b) {
    if (!comparer_.Equal(a.expr, b.expr)) return ValuesDiffer(a, b);
    const Answer& x = a.items[0];
    const Answer& y = b.items[0];
    if (x.kind == Kind::kValue && y.kind == Kind::kValue &&
        comparer_.Equal(Function("mod", {x.expr, a.expr}),
                        Function("mod", {y.expr, b.expr}))) {
      return Yes("both are " + Describe(a));
    }
    return Compare(x, y);
  }

  AnswerVerdict CompareRatios(const Answer& a, const Answer& b) {
    if (a.items.size() != b.items.size()) return ValuesDiffer(a, b);
    const Answer& a0 = a.items[0];
    const Answer& b0 = b.items[0];
    if (a0.kind != Kind::kValue || b0.kind != Kind::kValue) {
      return ValuesDiffer(a, b);
    }
    for (size_t i = 1; i < a.items.size(); ++i) {
      const Answer& x = a.items[i];
      const Answer& y = b.items[i];
      if (x.kind != Kind::kValue || y.kind != Kind::kValue ||
          !comparer_.Equal(Multiply(a0.expr, y.expr),
                           Multiply(x.expr, b0.expr))) {
        return ValuesDiffer(a, b);
      }
    }
    // 0 : 0 is in proportion to everything.
    if (comparer_.Equal(a0.expr, Number(0)) &&
        !comparer_.Equal(b0.expr, Number(0))) {
      return ValuesDiffer(a, b);
    }
    return Yes("both are " + Describe(a));
  }

  // Compares two kinds of shape; `a` is of the kind named first. Nothing if the
  // rule does not apply.
  std::optional<AnswerVerdict> CompareMixed(const Answer& a, const Answer& b) {
    if (a.kind == Kind::kTuple && b.kind == Kind::kRegion && a.pair) {
      if (!policy_.interval_is_inequality && WrittenAsRelation(b)) {
        return KindsDiffer(a, b);
      }
      return SameRegion(a.region, b.region, comparer_)
                 ? Yes("both are " + Describe(b.region))
                 : KindsDiffer(a, b);
    }
    // "1, 3" without brackets against "(1, 3)".
    if (a.kind == Kind::kTuple && a.text.empty() && b.kind == Kind::kList &&
        !b.braces) {
      // "1 and 3" are two; "x = 1 and y = 3" are a pair.
      if (JoinedByWords(b) && (b.from->name == "or" || Names(b) == 0)) {
        return KindsDiffer(a, b);
      }
      return Names(b) > 1 ? CompareToNamed(a, b) : CompareInOrder(a, b);
    }
    if (a.kind == Kind::kTuple && a.text.empty() && b.kind == Kind::kMatrix &&
        (b.columns == 1 || b.columns == static_cast<int>(b.items.size()))) {
      return CompareInOrder(a, b);
    }
    // A closed interval [1, 2] may be a list in square brackets.
    if (a.kind == Kind::kRegion && b.kind == Kind::kList && !b.braces &&
        a.from != nullptr && a.from->op == Op::kInterval &&
        a.region.size() == 1 && a.region[0].closed_low &&
        a.region[0].closed_high && b.items.size() == 2 &&
        b.items[0].kind == Kind::kValue && b.items[1].kind == Kind::kValue &&
        !JoinedByWords(b) && Names(b) == 0) {
      const bool same = comparer_.Equal(a.region[0].low, b.items[0].expr) &&
                        comparer_.Equal(a.region[0].high, b.items[1].expr);
      return same ? Yes("both are " + Describe(b)) : KindsDiffer(a, b);
    }
    if ((a.kind == Kind::kMatrix || a.kind == Kind::kTuple) &&
        b.kind == Kind::kValue && a.text.empty()) {
      if (const Expr sum = InUnitVectors(a, *b.expr)) {
        return comparer_.Equal(sum, b.expr) ? Yes("both are " + Describe(a))
                                            : KindsDiffer(a, b);
      }
    }
    // [1, 2] may be a vector.
    if (a.kind == Kind::kRegion && b.kind == Kind::kMatrix &&
        a.from != nullptr && a.from->op == Op::kInterval &&
        a.from->closed_low && a.from->closed_high && b.items.size() == 2 &&
        b.items[0].kind == Kind::kValue && b.items[1].kind == Kind::kValue) {
      const bool same = comparer_.Equal(a.from->args[0], b.items[0].expr) &&
                        comparer_.Equal(a.from->args[1], b.items[1].expr);
      return same ? Yes("both are " + Describe(b)) : KindsDiffer(a, b);
    }
    // A region that is empty, or consists of points: [1, 1] is {1}.
    if (a.kind == Kind::kRegion &&
        (b.kind == Kind::kList || b.kind == Kind::kValue)) {
      const bool points = std::all_of(
          a.region.begin(), a.region.end(), [this](const RegionPiece& piece) {
            return piece.low == piece.high ||
                   (piece.closed_low && piece.closed_high &&
                    comparer_.Equal(piece.low, piece.high));
          });
      if (!points) return KindsDiffer(a, b);
      Answer list;
      list.kind = Kind::kList;
      list.braces = true;
      for (const RegionPiece& piece : a.region) {
        Answer item;
        item.kind = Kind::kValue;
        item.expr = piece.low;
        list.items.push_back(std::move(item));
      }
      if (b.kind == Kind::kList) return CompareUnordered(list, b);
      if (list.items.size() != 1) return KindsDiffer(a, b);
      return Compare(list.items[0], b);
    }
    if (a.kind == Kind::kCongruence && b.kind == Kind::kValue) {
      // "3 \\mod 5", which by default is a remainder, states another modulus.
      if (b.from != nullptr && b.from->op == Op::kFunction &&
          b.from->name == "mod" && b.from->args.size() == 2 &&
          !comparer_.Equal(a.expr, b.from->args[1])) {
        return ValuesDiffer(a, b);
      }
      return Compare(a.items[0], b);
    }
    if (a.kind == Kind::kRatio && b.kind == Kind::kValue &&
        a.items.size() == 2 && a.items[0].kind == Kind::kValue &&
        a.items[1].kind == Kind::kValue) {
      const bool same =
          comparer_.Equal(a.items[0].expr, Multiply(b.expr, a.items[1].expr));
      return same ? Yes("both are " + Describe(b)) : KindsDiffer(a, b);
    }
    // Letters that spell a word: "odd" read as a product.
    if (a.kind == Kind::kText && !a.text.empty() && b.from != nullptr &&
        b.kind == Kind::kValue && a.text == FoldWords(Describe(*b.from))) {
      return Yes("both say \"" + a.text + "\"");
    }
    return std::nullopt;
  }

  ValueComparer& comparer_;
  const GradePolicy& policy_;
  int calls_ = 0;
  int inside_ = 0;  // lists and tuples around the compared items
};

}  // namespace

std::string Describe(const Answer& answer) {
  switch (answer.kind) {
    case Kind::kText:
      return "\"" + answer.text.substr(0, 60) + "\"";
    case Kind::kRegion:
      return Describe(answer.region);
    default:
      break;
  }
  if (answer.from != nullptr) return Describe(*answer.from);
  if (answer.expr != nullptr) return Describe(*answer.expr);
  std::string out;
  for (const Answer& item : answer.items) {
    if (!out.empty()) out += ", ";
    out += Describe(item);
    if (out.size() > 80) return out + " ...";
  }
  return out.empty() ? "nothing" : out;
}

AnswerVerdict CompareAnswers(const Answer& gold, const Answer& answer,
                             ValueComparer& comparer,
                             const GradePolicy& policy) {
  return Comparison(comparer, policy).Compare(gold, answer);
}

}  // namespace espalier
