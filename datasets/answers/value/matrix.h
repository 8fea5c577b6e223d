// Sums, products, powers and determinants of small matrices.
//
//   EvaluateMatrix(*ParseMath("2\\begin{pmatrix}1\\\\3\\end{pmatrix}").value())
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_MATRIX_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_MATRIX_H_

#include <optional>
#include <vector>

#include "datasets/answers/value/expression.h"

namespace espalier {

struct ExprMatrix {
  std::vector<Expr> cells;  // row-major
  int columns = 1;
  bool scalar = false;  // a number, not a 1 x 1 matrix
  int rows() const { return static_cast<int>(cells.size()) / columns; }
};

// Nothing if shapes do not match or sizes exceed 400 cells.
std::optional<ExprMatrix> EvaluateMatrix(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_MATRIX_H_
