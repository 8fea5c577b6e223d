// pass@k: how often at least one of k independent responses is right.
//
//   SweepOptions options{.methods = {"sample"}, .budgets = {600}, .seeds = 16};
//   auto rows = RunSweep(*engine, set.name, set.problems, *task, *verifier,
//                        options);
//   auto report = MakePassReport(*rows, {1, 4, 16});
//   std::cout << PassTable(*report);
//
// If c of n responses to a problem are right, the chance that k of them drawn
// without replacement contain a right one,
//
//   pass@k = 1 - C(n - c, k) / C(n, k),
//
// is an unbiased estimate of the chance that one of k new responses is right
// (Chen et al. 2021, arXiv:2107.03374, eq. 1); 1 - (1 - c/n)^k is biased. The
// figure of a set is the mean over its problems, its interval a bootstrap over
// them. Responses are independent: one search each, with its own seed.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_PASS_AT_K_H_
#define ESPALIER_SRC_EVAL_PASS_AT_K_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
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
  int64_t budget_tokens = 0;  // per response
  std::string limits = "{}";  // further budgets and stops, as JSON
  uint64_t seed = 0;          // of the first response
  int samples = 0;            // responses begun per problem
  bool oracle = false;
  bool complete = true;  // false: stopped before all responses were done
  std::vector<PassAt> at;
  // Of the problems with at least as many responses as the largest k, in the
  // order of the set.
  TextList ids;  // empty if the rows list none
  std::vector<int32_t> responses;
  std::vector<int32_t> right;
  double tokens_per_problem = 0;  // sampled, all responses summed
  double tokens_per_response = 0;
  double seconds = 0;
  TextList errors;  // "id: why", each once
};

// From the rows of one method at one budget, one row per seed; only the last
// may be cut short. A problem that failed counts as a wrong response, as in a
// sweep, and is listed in the errors. If no problem has as many responses as
// the largest k, `ids` and `at` are empty and `complete` is false.
PassReport MakePassReport(const std::vector<ResultRow>& rows,
                          const std::vector<int>& ks);

std::string PassTable(const PassReport& report);
// `report` outlives the result.
LongJson PassJson(const PassReport& report);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_PASS_AT_K_H_
