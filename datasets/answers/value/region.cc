#include "datasets/answers/value/region.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace espalier {
namespace {

constexpr size_t kMostPieces = 60;

Expr Infinity(int sign) {
  Expr infinity = Make(Op::kInfinity);
  return sign > 0 ? infinity : Multiply(Number(-1), infinity);
}

bool Empty(const RegionPiece& piece, ValueComparer& comparer, bool* known) {
  const auto order = comparer.Order(piece.low, piece.high);
  if (!order) {
    *known = false;
    return false;
  }
  return *order > 0 ||
         (*order == 0 && !(piece.closed_low && piece.closed_high));
}

std::optional<Region> Unite(const std::vector<Expr>& parts,
                            ValueComparer& comparer) {
  Region out;
  for (const Expr& part : parts) {
    const auto next = RegionOf(*part, comparer);
    if (!next) return std::nullopt;
    auto united = Union(out, *next, comparer);
    if (!united) return std::nullopt;
    out = std::move(*united);
  }
  return out;
}

// The region described by "symbol relation bound".
std::optional<Region> HalfLine(const std::string& relation, const Expr& bound) {
  if (!IsScalar(*bound)) return std::nullopt;
  const RegionPiece below{Infinity(-1), bound, false, relation == "<="};
  const RegionPiece above{bound, Infinity(1), relation == ">=", false};
  if (relation == "<" || relation == "<=") return Region{below};
  if (relation == ">" || relation == ">=") return Region{above};
  if (relation == "!=") return Region{below, above};
  if (relation == "=") return Point(bound);
  return std::nullopt;
}

std::string Mirrored(const std::string& relation) {
  if (relation == "<") return ">";
  if (relation == "<=") return ">=";
  if (relation == ">") return "<";
  if (relation == ">=") return "<=";
  return relation;
}

// x + c, in either order.
bool ShiftedSymbol(const ExprNode& e) {
  return e.op == Op::kAdd && e.args.size() == 2 &&
         (e.args[0]->op == Op::kSymbol) != (e.args[1]->op == Op::kSymbol) &&
         (e.args[0]->op == Op::kNumber || e.args[1]->op == Op::kNumber);
}

// What an inequality may be about: x, f(x), |x| or |x + c|.
bool IsUnknown(const ExprNode& e) {
  return e.op == Op::kSymbol || e.op == Op::kApply ||
         (e.op == Op::kFunction && e.name == "abs" &&
          (e.args[0]->op == Op::kSymbol || ShiftedSymbol(*e.args[0])));
}

// The x whose |x + shift| lies in the region.
std::optional<Region> OfBothSigns(const Region& sizes, const Expr& shift,
                                  ValueComparer& comparer) {
  const Region positive{{Number(0), Infinity(1), true, false}};
  auto out = Intersection(sizes, positive, comparer);
  if (!out) return std::nullopt;
  Region mirrored;
  for (const RegionPiece& piece : *out) {
    const auto minus = [](const Expr& end) {
      const int infinite = InfinitySign(*end);
      return infinite != 0 ? Infinity(-infinite) : Negate(end);
    };
    mirrored.push_back({minus(piece.high), minus(piece.low), piece.closed_high,
                        piece.closed_low});
  }
  out = Union(*out, mirrored, comparer);
  if (!out || shift == nullptr) return out;
  for (RegionPiece& piece : *out) {
    for (Expr* end : {&piece.low, &piece.high}) {
      if (InfinitySign(**end) == 0) *end = Add(*end, Negate(shift));
    }
  }
  return out;
}

}  // namespace

Region WholeLine() { return {{Infinity(-1), Infinity(1), false, false}}; }

Region Point(const Expr& e) { return {{e, e, true, true}}; }

std::optional<Region> Union(const Region& a, const Region& b,
                            ValueComparer& comparer) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Region all = a;
  all.insert(all.end(), b.begin(), b.end());
  if (all.size() > kMostPieces) return std::nullopt;
  bool known = true;
  const auto order = [&](const Expr& x, const Expr& y) {
    const auto result = comparer.Order(x, y);
    known &= result.has_value();
    return result.value_or(0);
  };
  // Insertion sort: the order may be unknown, which std::sort does not allow.
  for (size_t i = 1; i < all.size(); ++i) {
    for (size_t k = i; k > 0; --k) {
      const int lows = order(all[k].low, all[k - 1].low);
      if (!known) return std::nullopt;
      if (lows > 0 ||
          (lows == 0 && !(all[k].closed_low && !all[k - 1].closed_low))) {
        break;
      }
      std::swap(all[k], all[k - 1]);
    }
  }
  Region out{all[0]};
  for (size_t i = 1; i < all.size(); ++i) {
    RegionPiece& last = out.back();
    const int gap = order(all[i].low, last.high);
    if (gap > 0 || (gap == 0 && !all[i].closed_low && !last.closed_high)) {
      out.push_back(all[i]);
      continue;
    }
    const int ends = order(all[i].high, last.high);
    if (ends > 0) {
      last.high = all[i].high;
      last.closed_high = all[i].closed_high;
    } else if (ends == 0) {
      last.closed_high |= all[i].closed_high;
    }
  }
  if (!known) return std::nullopt;
  return out;
}

std::optional<Region> Intersection(const Region& a, const Region& b,
                                   ValueComparer& comparer) {
  Region out;
  bool known = true;
  for (const RegionPiece& x : a) {
    for (const RegionPiece& y : b) {
      const auto lows = comparer.Order(x.low, y.low);
      const auto highs = comparer.Order(x.high, y.high);
      if (!lows || !highs) return std::nullopt;
      RegionPiece both;
      both.low = *lows >= 0 ? x.low : y.low;
      both.closed_low = *lows == 0  ? x.closed_low && y.closed_low
                        : *lows > 0 ? x.closed_low
                                    : y.closed_low;
      both.high = *highs <= 0 ? x.high : y.high;
      both.closed_high = *highs == 0  ? x.closed_high && y.closed_high
                         : *highs < 0 ? x.closed_high
                                      : y.closed_high;
      if (!Empty(both, comparer, &known)) out.push_back(std::move(both));
      if (!known || out.size() > kMostPieces) return std::nullopt;
    }
  }
  return Union(out, {}, comparer);
}

std::optional<Region> Complement(const Region& a, ValueComparer& comparer) {
  Region out;
  RegionPiece gap{Infinity(-1), nullptr, false, false};
  bool known = true;
  for (const RegionPiece& piece : a) {
    gap.high = piece.low;
    gap.closed_high = !piece.closed_low && InfinitySign(*piece.low) == 0;
    if (!Empty(gap, comparer, &known)) out.push_back(gap);
    gap.low = piece.high;
    gap.closed_low = !piece.closed_high && InfinitySign(*piece.high) == 0;
  }
  gap.high = Infinity(1);
  gap.closed_high = false;
  if (!Empty(gap, comparer, &known)) out.push_back(gap);
  if (!known) return std::nullopt;
  return out;
}

std::optional<Region> RegionOf(const ExprNode& e, ValueComparer& comparer) {
  switch (e.op) {
    case Op::kInterval:
    case Op::kTuple: {
      if (e.args.size() != 2 || !IsScalar(*e.args[0]) ||
          !IsScalar(*e.args[1])) {
        return std::nullopt;
      }
      return Region{{e.args[0], e.args[1],
                     e.closed_low && InfinitySign(*e.args[0]) == 0,
                     e.closed_high && InfinitySign(*e.args[1]) == 0}};
    }
    case Op::kSet: {
      Region out;
      for (const Expr& arg : e.args) {
        if (!IsScalar(*arg)) return std::nullopt;
        auto united = Union(out, Point(arg), comparer);
        if (!united) return std::nullopt;
        out = std::move(*united);
      }
      return out;
    }
    case Op::kNumberSet:
      if (e.name == "R") return WholeLine();
      if (e.name == "R^+" || e.name == "R+") {
        return Region{{Number(0), Infinity(1), false, false}};
      }
      return std::nullopt;
    case Op::kUnion:
      return Unite(e.args, comparer);
    case Op::kIntersection:
    case Op::kWithout: {
      const auto left = RegionOf(*e.args[0], comparer);
      auto right = RegionOf(*e.args[1], comparer);
      if (!left || !right) return std::nullopt;
      if (e.op == Op::kWithout) right = Complement(*right, comparer);
      if (!right) return std::nullopt;
      return Intersection(*left, *right, comparer);
    }
    case Op::kRelation: {
      std::string symbol;
      return RegionOfRelation(e, comparer, &symbol);
    }
    default:
      return std::nullopt;
  }
}

std::optional<Region> RegionOfRelation(const ExprNode& e,
                                       ValueComparer& comparer,
                                       std::string* symbol) {
  // "x in S", "x notin S".
  if (e.args.size() == 2 && e.args[0]->op == Op::kSymbol &&
      (e.relations[0] == "in" || e.relations[0] == "notin")) {
    *symbol = e.args[0]->name;
    const auto region = RegionOf(*e.args[1], comparer);
    if (!region || e.relations[0] == "in") return region;
    return Complement(*region, comparer);
  }
  // Adjacent "a < x" and "x < b" of one symbol, f(x) or |x|.
  Region out = WholeLine();
  bool found = false;
  bool size_of = false;  // |x + shift|
  Expr shift;
  for (size_t i = 0; i < e.relations.size(); ++i) {
    const bool left = IsUnknown(*e.args[i]);
    const bool right = IsUnknown(*e.args[i + 1]);
    if (left == right) return std::nullopt;
    const ExprNode& unknown = *e.args[left ? i : i + 1];
    size_of = unknown.op == Op::kFunction;
    std::string name =
        unknown.op == Op::kApply ? Describe(unknown) : unknown.name;
    if (size_of) {
      const ExprNode& inside = *unknown.args[0];
      if (inside.op == Op::kSymbol) {
        name = inside.name;
      } else {
        const bool first = inside.args[0]->op == Op::kSymbol;
        name = inside.args[first ? 0 : 1]->name;
        shift = inside.args[first ? 1 : 0];
      }
    }
    const Expr& bound = e.args[left ? i + 1 : i];
    if (HasSymbol(*bound) && e.relations.size() > 2) return std::nullopt;
    if (found && name != *symbol) return std::nullopt;
    *symbol = name;
    const auto half =
        HalfLine(left ? e.relations[i] : Mirrored(e.relations[i]), bound);
    if (!half) return std::nullopt;
    if (!found) {
      out = *half;
    } else if (HasSymbol(*bound) || HasSymbol(*e.args[0])) {
      // a < x < b with symbols: the two halves form one interval.
      if (half->size() != 1 || out.size() != 1) return std::nullopt;
      const bool low = InfinitySign(*out[0].low) == 0;
      if (low == (InfinitySign(*(*half)[0].low) == 0)) return std::nullopt;
      RegionPiece& piece = out[0];
      const RegionPiece& other = (*half)[0];
      if (low) {
        piece.high = other.high;
        piece.closed_high = other.closed_high;
      } else {
        piece.low = other.low;
        piece.closed_low = other.closed_low;
      }
    } else {
      auto both = Intersection(out, *half, comparer);
      if (!both) return std::nullopt;
      out = std::move(*both);
    }
    found = true;
  }
  if (!found) return std::nullopt;
  if (size_of) return OfBothSigns(out, shift, comparer);
  return out;
}

bool SameRegion(const Region& a, const Region& b, ValueComparer& comparer) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].closed_low != b[i].closed_low ||
        a[i].closed_high != b[i].closed_high ||
        !comparer.Equal(a[i].low, b[i].low) ||
        !comparer.Equal(a[i].high, b[i].high)) {
      return false;
    }
  }
  return true;
}

std::string Describe(const Region& region) {
  if (region.empty()) return "the empty set";
  std::string out;
  for (const RegionPiece& piece : region) {
    if (!out.empty()) out += " and ";
    if (piece.low == piece.high) {
      absl::StrAppend(&out, "{", Describe(*piece.low), "}");
    } else {
      absl::StrAppend(&out, piece.closed_low ? "[" : "(", Describe(*piece.low),
                      ", ", Describe(*piece.high),
                      piece.closed_high ? "]" : ")");
    }
    if (out.size() > 100) return out + " ...";
  }
  return out;
}

}  // namespace espalier
