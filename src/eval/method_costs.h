// What methods cost by themselves, read from what a Google Benchmark wrote
// with --benchmark_out (bench/search/search_core_benchmark).
//
//   ESP_ASSIGN_OR_RETURN(MethodCosts costs,
//                        ReadMethodCosts("docs/results/search-core.json"));
//   costs.at("puct").microseconds   // of a simulation
//
// A row counts that has the counter sims_per_s. Its method is the first name of
// its label, "puct:descend=false", or of its own, BM_MctsStar/sims:8000. Of a
// method's rows the median of repetitions is taken, else the first.
#ifndef ESPALIER_SRC_EVAL_METHOD_COSTS_H_
#define ESPALIER_SRC_EVAL_METHOD_COSTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct MethodCost {
  double microseconds = 0;  // of a simulation, without the models
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
