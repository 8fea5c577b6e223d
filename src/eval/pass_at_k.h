// pass@k: how often at least one of k independent responses is right.
//
//   SweepOptions options{.methods = {"sample"}, .budgets = {600}, .seeds = 16};
//   auto rows = RunSweep(*engine, set.name, set.problems, *task, *verifier,
//                        options);
//   auto report = MakePassReport(*rows, {1, 4, 16});
//   std::cout << PassTable(*report);
//
// Of n responses to a problem c are right. The chance that k of them drawn
// without replacement hold a right one,
//
//   pass@k = 1 - C(n - c, k) / C(n, k),
//
// is an estimate without bias of the chance that one of k new responses is
// right (Chen et al. 2021, arXiv:2107.03374, eq. 1); 1 - (1 - c/n)^k is not.
// The figure of a set is the mean over its problems, its interval a bootstrap
// over them. Responses are independent: one search each, with its own seed.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_PASS_AT_K_H_
#define ESPALIER_SRC_EVAL_PASS_AT_K_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "src/eval/statistics.h"
#include "src/eval/sweep.h"

namespace espalier {

// The estimate for one problem; 0 <= right <= responses, 1 <= k <= responses.
double PassAtK(int64_t responses, int64_t right, int64_t k);

struct PassAt {
  int k = 0;
  double share = 0;   // mean over problems
  Interval interval;  // 95 %, bootstrap over problems
};

struct PassReport {
  std::string set;
  std::string method;         // as given
  std::string configuration;  // with all options
  int64_t budget_tokens = 0;  // of a response
  nlohmann::json limits;      // further budgets and stops, those that are set
  uint64_t seed = 0;          // of the first response
  int samples = 0;            // responses a problem that were begun
  bool oracle = false;
  bool complete = true;  // false: stopped before all responses were there
  std::vector<PassAt> at;
  // By position in ids: problems with at least the largest k of responses.
  std::vector<std::string> ids;
  std::vector<int64_t> responses;
  std::vector<int64_t> right;
  double tokens_per_problem = 0;  // sampled, all responses together
  double tokens_per_response = 0;
  double seconds = 0;
  std::vector<std::string> errors;  // "id: why", each once
};

// From the rows of one method at one budget, a seed each. A problem that
// failed counts as a wrong response, as it does in a sweep, and is among the
// errors. Where no problem has the largest k of responses, `ids` and `at` are
// empty and `complete` is false.
PassReport MakePassReport(const std::vector<ResultRow>& rows,
                          const std::vector<int>& ks);

std::string PassTable(const PassReport& report);
nlohmann::json PassJson(const PassReport& report);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_PASS_AT_K_H_
