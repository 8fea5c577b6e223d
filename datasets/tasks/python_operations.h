// The operations that generated programs are made of, each in words, in Python
// and in C++.
//
//   const PythonOperation& op = PythonOperations()[0];
//   op.words    "keep only the numbers greater than {k}"
//   op.python   "[v for v in x if v > {k}]"
//   op.run(value, k)
//
// Both forms agree for integers up to 10^12 and ASCII text: `run` fails if an
// integer would become larger. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PYTHON_OPERATIONS_H_
#define ESPALIER_DATASETS_TASKS_PYTHON_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier {

using IntList = std::vector<int64_t>;
using PythonValue = std::variant<int64_t, std::string, IntList>;
enum class PythonType { kInt, kText, kList };  // as in PythonValue

struct PythonOperation {
  PythonType from;
  PythonType to;
  std::string_view words;   // describes it; {k} stands for the argument
  std::string_view python;  // an expression of x
  int least_k, most_k;      // 0, 0: no argument
  // The result; nothing if it contains an integer beyond 10^12.
  std::optional<PythonValue> (*run)(const PythonValue& x, int64_t k);
};

const std::vector<PythonOperation>& PythonOperations();

// As Python prints it: 3, "a b", [1, 2].
std::string PythonLiteral(const PythonValue& value);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PYTHON_OPERATIONS_H_
