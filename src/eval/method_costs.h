// The cost of methods without the models, read from a Google Benchmark file
// written with --benchmark_out (bench/search/search_core_benchmark).
//
//   ESP_ASSIGN_OR_RETURN(MethodCosts costs,
//                        ReadMethodCosts("docs/results/search-core.json"));
//   costs.at("puct").microseconds   // per sampled step
//
// Rows count if they have the counter steps_per_s and a method as their label.
// Of a method's rows we take the median of repetitions if there is one, else
// the first row.
#ifndef ESPALIER_SRC_EVAL_METHOD_COSTS_H_
#define ESPALIER_SRC_EVAL_METHOD_COSTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct MethodCost {
  double microseconds = 0;  // per sampled step, without the models
  std::string row;          // name of the benchmark row
};

using MethodCosts = std::map<std::string, MethodCost>;

// InvalidArgument for text in another format; `where` names it.
absl::StatusOr<MethodCosts> ParseMethodCosts(const std::string& text,
                                             const std::string& where);
// Empty if there is no such file.
absl::StatusOr<MethodCosts> ReadMethodCosts(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METHOD_COSTS_H_
