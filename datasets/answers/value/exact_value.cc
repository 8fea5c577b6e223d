#include "datasets/answers/value/exact_value.h"

#include <algorithm>

#include "datasets/answers/value/calcium.h"
#include "datasets/answers/value/finite_sum.h"

namespace espalier {
namespace {

// What a tree requires of Calcium: together these limits keep a comparison
// within milliseconds (bench/datasets/grade_benchmark).
struct Demand {
  int steps = 0;
  int functions = 0;   // each a transcendental generator
  int64_t degree = 1;  // product of the roots' orders
};
constexpr int kMostExactSteps = 80;
constexpr int kMostFunctions = 4;
constexpr int64_t kHighestAlgebraic = 16;
constexpr int64_t kMostExactBits = 160;
constexpr int64_t kHighestExactPower = 12;
constexpr int64_t kHighestTower = 144;  // product of powers of powers

// `tower`: the power to which the enclosing expression raises `e`.
bool Modest(const ExprNode& e, Demand& demand, int64_t tower = 1) {
  if (++demand.steps > kMostExactSteps) return false;
  switch (e.op) {
    case Op::kNumber:
    case Op::kBased:
      return e.value.bits() <= kMostExactBits;
    case Op::kPi:
    case Op::kE:
    case Op::kImaginary:
      return true;
    case Op::kAdd:
    case Op::kMultiply:
    case Op::kPercent:
      break;
    case Op::kQuantity:
      break;
    case Op::kPower: {
      const ExprNode& exponent = *e.args[1];
      if (exponent.op != Op::kNumber) {
        ++demand.functions;
        break;
      }
      if (exponent.value.bits() > 8) return false;
      const int64_t q = fmpz_get_si(fmpq_denref(exponent.value.get()));
      const int64_t n = fmpz_get_si(fmpq_numref(exponent.value.get()));
      if (std::abs(n) > kHighestExactPower || q > kHighestAlgebraic)
        return false;
      demand.degree *= q;
      tower *= std::max<int64_t>(std::abs(n), 1);
      if (tower > kHighestTower) return false;
      break;
    }
    case Op::kFunction: {
      static constexpr std::string_view kKnown[] = {
          "sin", "cos",    "tan",    "cot",    "sec", "csc", "ln",
          "log", "arctan", "arcsin", "arccos", "abs", "root"};
      if (std::find(std::begin(kKnown), std::end(kKnown), e.name) ==
          std::end(kKnown)) {
        return false;
      }
      if (e.name == "root") {
        const ExprNode& n = *e.args[1];
        if (n.op != Op::kNumber || !n.value.small() ||
            n.value.small_value() < 2 ||
            n.value.small_value() > kHighestAlgebraic) {
          return false;
        }
        demand.degree *= n.value.small_value();
      } else {
        ++demand.functions;
      }
      break;
    }
    default:
      return false;
  }
  if (demand.degree > kHighestAlgebraic || demand.functions > kMostFunctions) {
    return false;
  }
  return std::all_of(e.args.begin(), e.args.end(), [&](const Expr& arg) {
    return Modest(*arg, demand, tower);
  });
}

class Context {
 public:
  Context() {
    ca_ctx_init(ctx_);
    ca_ctx_set_option(ctx_, CA_OPT_PREC_LIMIT, 512);
    ca_ctx_set_option(ctx_, CA_OPT_QQBAR_DEG_LIMIT, 24);
    ca_ctx_set_option(ctx_, CA_OPT_LLL_PREC, 64);
    ca_ctx_set_option(ctx_, CA_OPT_SMOOTH_LIMIT, 16);
    ca_ctx_set_option(ctx_, CA_OPT_POW_LIMIT, kHighestExactPower);
    ca_ctx_set_option(ctx_, CA_OPT_GROEBNER_LENGTH_LIMIT, 20);
    ca_ctx_set_option(ctx_, CA_OPT_GROEBNER_POLY_LENGTH_LIMIT, 60);
    ca_ctx_set_option(ctx_, CA_OPT_GROEBNER_POLY_BITS_LIMIT, 400);
    ca_ctx_set_option(ctx_, CA_OPT_VIETA_LIMIT, 3);
  }
  ~Context() { ca_ctx_clear(ctx_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ca_ctx_struct* get() { return ctx_; }

 private:
  ca_ctx_t ctx_;
};

class Value {
 public:
  explicit Value(Context& context) : ctx_(context.get()) {
    ca_init(value_, ctx_);
  }
  ~Value() { ca_clear(value_, ctx_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ca_struct* get() { return value_; }

 private:
  ca_ctx_struct* ctx_;
  ca_t value_;
};

bool Evaluate(const ExprNode& e, Context& context, Value& out);

bool EvaluateFunction(const ExprNode& e, Context& context, Value& out) {
  ca_ctx_struct* const ctx = context.get();
  ca_struct* const z = out.get();
  if (!Evaluate(*e.args[0], context, out)) return false;
  if (e.name == "root") {
    const int64_t n = e.args[1]->value.small_value();
    const bool negative =
        n % 2 == 1 && ca_check_is_negative_real(z, ctx) == T_TRUE;
    if (negative) ca_neg(z, z, ctx);
    BigRational power(1, n);
    ca_pow_fmpq(z, z, power.get(), ctx);
    if (negative) ca_neg(z, z, ctx);
    return true;
  }
  if (e.name == "log") {
    Value base(context);
    if (!Evaluate(*e.args[1], context, base)) return false;
    ca_log(z, z, ctx);
    ca_log(base.get(), base.get(), ctx);
    ca_div(z, z, base.get(), ctx);
    return true;
  }
  if (e.name == "ln")
    ca_log(z, z, ctx);
  else if (e.name == "abs")
    ca_abs(z, z, ctx);
  else if (e.name == "arctan")
    ca_atan(z, z, ctx);
  else if (e.name == "arcsin")
    ca_asin(z, z, ctx);
  else if (e.name == "arccos")
    ca_acos(z, z, ctx);
  else if (e.name == "tan")
    ca_tan(z, z, ctx);
  else if (e.name == "cot")
    ca_cot(z, z, ctx);
  else {
    const bool sine = e.name == "sin" || e.name == "csc";
    sine ? ca_sin(z, z, ctx) : ca_cos(z, z, ctx);
    if (e.name == "csc" || e.name == "sec") ca_inv(z, z, ctx);
  }
  return true;
}

bool Evaluate(const ExprNode& e, Context& context, Value& out) {
  ca_ctx_struct* const ctx = context.get();
  ca_struct* const z = out.get();
  switch (e.op) {
    case Op::kNumber:
    case Op::kBased:
      ca_set_fmpq(z, e.value.get(), ctx);
      return true;
    case Op::kPi:
      ca_pi(z, ctx);
      return true;
    case Op::kE:
      ca_one(z, ctx);
      ca_exp(z, z, ctx);
      return true;
    case Op::kImaginary:
      ca_i(z, ctx);
      return true;
    case Op::kAdd:
    case Op::kMultiply:
      if (!Evaluate(*e.args[0], context, out)) return false;
      for (size_t i = 1; i < e.args.size(); ++i) {
        Value next(context);
        if (!Evaluate(*e.args[i], context, next)) return false;
        (e.op == Op::kAdd ? ca_add : ca_mul)(z, z, next.get(), ctx);
      }
      return true;
    case Op::kPower: {
      if (e.args[0]->op == Op::kE) {
        if (!Evaluate(*e.args[1], context, out)) return false;
        ca_exp(z, z, ctx);
        return true;
      }
      Value power(context);
      if (!Evaluate(*e.args[0], context, out) ||
          !Evaluate(*e.args[1], context, power)) {
        return false;
      }
      ca_pow(z, z, power.get(), ctx);
      return true;
    }
    case Op::kFunction:
      return EvaluateFunction(e, context, out);
    case Op::kPercent:
      if (!Evaluate(*e.args[0], context, out)) return false;
      ca_div_ui(z, z, 100, ctx);
      return true;
    case Op::kQuantity: {
      if (!Evaluate(*e.args[0], context, out)) return false;
      if (e.name != " degree") return true;
      Value pi(context);
      ca_pi(pi.get(), ctx);
      ca_mul(z, z, pi.get(), ctx);
      ca_div_ui(z, z, 180, ctx);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

Sameness ExactlyEqual(const ExprNode& a, const ExprNode& b) {
  Demand demand;
  if (!Modest(a, demand) || !Modest(b, demand)) return Sameness::kUnknown;
  Context context;
  Value left(context), right(context);
  if (!Evaluate(a, context, left) || !Evaluate(b, context, right)) {
    return Sameness::kUnknown;
  }
  switch (ca_check_equal(left.get(), right.get(), context.get())) {
    case T_TRUE:
      return Sameness::kEqual;
    case T_FALSE:
      return Sameness::kDifferent;
    default:
      return Sameness::kUnknown;
  }
}

}  // namespace espalier
