#include "datasets/answers/value/matrix.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr size_t kMostCells = 400;

ExprMatrix Scalar(Expr e) { return {{std::move(e)}, 1, true}; }

std::optional<ExprMatrix> Plus(const ExprMatrix& a, const ExprMatrix& b) {
  if (a.columns != b.columns || a.cells.size() != b.cells.size()) {
    return std::nullopt;
  }
  ExprMatrix out = a;
  for (size_t i = 0; i < a.cells.size(); ++i) {
    out.cells[i] = Add(a.cells[i], b.cells[i]);
  }
  return out;
}

std::optional<ExprMatrix> Times(const ExprMatrix& a, const ExprMatrix& b) {
  if (a.scalar || b.scalar) {
    ExprMatrix out = a.scalar ? b : a;
    const Expr& factor = a.scalar ? a.cells[0] : b.cells[0];
    for (Expr& cell : out.cells) cell = Multiply(factor, cell);
    return out;
  }
  if (a.columns != b.rows()) return std::nullopt;
  ExprMatrix out;
  out.columns = b.columns;
  // Each cell sums a.columns products: bounds the cost of nested products.
  if (a.columns > 8 ||
      static_cast<size_t>(a.rows() * b.columns) > kMostCells / 4) {
    return std::nullopt;
  }
  for (int r = 0; r < a.rows(); ++r) {
    for (int c = 0; c < b.columns; ++c) {
      std::vector<Expr> terms;
      for (int k = 0; k < a.columns; ++k) {
        terms.push_back(
            Multiply(a.cells[static_cast<size_t>(r * a.columns + k)],
                     b.cells[static_cast<size_t>(k * b.columns + c)]));
      }
      out.cells.push_back(Make(Op::kAdd, std::move(terms)));
    }
  }
  return out;
}

// Expansion along the first row; for at most 4 x 4.
Expr Determinant(const ExprMatrix& m) {
  const int n = m.columns;
  if (n == 1) return m.cells[0];
  std::vector<Expr> terms;
  for (int skip = 0; skip < n; ++skip) {
    ExprMatrix minor;
    minor.columns = n - 1;
    for (int r = 1; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        if (c != skip) {
          minor.cells.push_back(m.cells[static_cast<size_t>(r * n + c)]);
        }
      }
    }
    Expr term =
        Multiply(m.cells[static_cast<size_t>(skip)], Determinant(minor));
    terms.push_back(skip % 2 == 0 ? term : Negate(term));
  }
  return Make(Op::kAdd, std::move(terms));
}

// The cofactors over the determinant; for at most 3 x 3.
std::optional<ExprMatrix> Inverse(const ExprMatrix& m) {
  const int n = m.columns;
  if (n != m.rows() || n > 3) return std::nullopt;
  const Expr scale = Power(Determinant(m), Number(-1));
  ExprMatrix out;
  out.columns = n;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      // The transposed position.
      ExprMatrix minor;
      minor.columns = n - 1;
      for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
          if (i != c && k != r) {
            minor.cells.push_back(m.cells[static_cast<size_t>(i * n + k)]);
          }
        }
      }
      Expr cell = n == 1 ? Number(1) : Determinant(minor);
      if ((r + c) % 2 == 1) cell = Negate(std::move(cell));
      out.cells.push_back(Multiply(scale, std::move(cell)));
    }
  }
  return out;
}

// `products` counts down: each multiplies the size of the cells' trees.
std::optional<ExprMatrix> Evaluate(const ExprNode& e, int& products) {
  if (e.op == Op::kMatrix) {
    if (e.args.size() > kMostCells) return std::nullopt;
    return ExprMatrix{e.args, e.columns, false};
  }
  if (!Contains(e, Op::kMatrix)) {
    return Scalar(std::make_shared<ExprNode>(e));
  }
  if (e.op == Op::kFunction && e.name == "det") {
    const auto m = Evaluate(*e.args[0], products);
    if (!m || m->columns != m->rows() || m->columns > 4) return std::nullopt;
    return Scalar(Determinant(*m));
  }
  if (e.op == Op::kPower) {
    const auto base = Evaluate(*e.args[0], products);
    const ExprNode& n = *e.args[1];
    if (base && !base->scalar && n.op == Op::kNumber &&
        n.value == BigRational(-1)) {
      return Inverse(*base);
    }
    if (!base || n.op != Op::kNumber || !n.value.small() ||
        n.value.small_value() < 1 || n.value.small_value() > 4) {
      return std::nullopt;
    }
    std::optional<ExprMatrix> out = base;
    for (int64_t k = 1; k < n.value.small_value() && out; ++k) {
      if (--products < 0) return std::nullopt;
      out = Times(*out, *base);
    }
    return out;
  }
  if (e.op != Op::kAdd && e.op != Op::kMultiply) return std::nullopt;
  auto out = Evaluate(*e.args[0], products);
  for (size_t i = 1; i < e.args.size() && out; ++i) {
    const auto next = Evaluate(*e.args[i], products);
    if (!next) return std::nullopt;
    if (!out->scalar && !next->scalar && e.op == Op::kMultiply &&
        --products < 0) {
      return std::nullopt;
    }
    out = e.op == Op::kAdd ? Plus(*out, *next) : Times(*out, *next);
  }
  return out;
}

}  // namespace

std::optional<ExprMatrix> EvaluateMatrix(const ExprNode& e) {
  int products = 4;
  return Evaluate(e, products);
}

}  // namespace espalier
