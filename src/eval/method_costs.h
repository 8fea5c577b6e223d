// What methods cost by themselves, read from what a Google Benchmark wrote
// with --benchmark_out (bench/search/search_core_benchmark).
//
//   ESP_ASSIGN_OR_RETURN(MethodCosts costs,
//                        ReadMethodCosts("docs/results/search-core.json"));
//   costs.at("puct").microseconds   // of a step sampled
//
// A row counts that has the counter steps_per_s and a method as its label. Of a
// method's rows the median of repetitions is taken, else the first.
#ifndef ESPALIER_SRC_EVAL_METHOD_COSTS_H_
#define ESPALIER_SRC_EVAL_METHOD_COSTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct MethodCost {
  double microseconds = 0;  // of a step sampled, without the models
  std::string row;          // the benchmark's name of it
};

using MethodCosts = std::map<std::string, MethodCost>;

// InvalidArgument for text that is not such a file; `where` names it.
absl::StatusOr<MethodCosts> ParseMethodCosts(const std::string& text,
                                             const std::string& where);
// None where there is no such file.
absl::StatusOr<MethodCosts> ReadMethodCosts(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METHOD_COSTS_H_
