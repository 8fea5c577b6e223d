// Methods compared at equal token budgets on one problem set.
//
//   SweepOptions options{.methods = {"majority", "beam"},
//                        .budgets = {300, 600}, .seeds = 3};
//   auto rows = RunSweep(*engine, set.problems, *task, *verifier, options);
//   std::cout << SweepTable(*rows);
//
// Responses are graded after a search has ended and grades never feed back:
// searches get problems without references.
//
// A row keeps two bits per problem in memory; ids and answers lie in a
// temporary file of the run.
#ifndef ESPALIER_SRC_EVAL_SWEEP_H_
#define ESPALIER_SRC_EVAL_SWEEP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/long_json.h"
#include "espalier/problem.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "nlohmann/json_fwd.hpp"
#include "src/eval/statistics.h"
#include "src/eval/text_list.h"

namespace espalier {

class Engine;

// What scores steps in a sweep.
enum class RewardSource {
  kModel,     // the reward heads
  kConstant,  // every step 0.5: the gain of search without a judge
  kVerifier,  // verdicts on whole responses, from the question only
  kOracle,    // exact labels from the reference: an upper bound, marked
};

struct SweepOptions {
  std::vector<std::string> methods;
  std::vector<int64_t> budgets;  // tokens sampled per problem
  int seeds = 1;                 // search seeds 0 .. seeds-1, or from `seed` on
  uint64_t seed = 0;
  // Further budgets and stops of every search; the sweep sets method, tokens
  // and seed.
  SearchOptions search = {};
  RewardSource reward = RewardSource::kModel;
  const std::atomic<bool>* stop = nullptr;  // ends the sweep early
  bool lists = true;  // rows list ids, answers and stages; SweepJson needs them
  // Called after each finished problem (not cut short) with the number done and
  // the total over the sweep.
  std::function<void(int64_t done, int64_t all)> progress;
};

// Passes a set's problems to `use` in blocks and in order, all of them at each
// call. Ends with the first error of `use`.
using UseProblems =
    std::function<absl::Status(absl::Span<const GradedProblem>)>;
using ProblemBlocks = std::function<absl::Status(const UseProblems& use)>;

// One method at one budget with one seed.
struct ResultRow {
  std::string set;
  std::string method;         // as given
  std::string configuration;  // with all options
  int64_t budget_tokens = 0;
  std::string limits = "{}";  // further budgets and stops that are set, as JSON
  uint64_t seed = 0;
  bool oracle = false;
  // False: stopped before all problems were done. Problems whose searches were
  // cut short are not in the row.
  bool complete = true;
  // By position in the set: whose search finished, and whose answer is right.
  std::vector<bool> done, right;
  int64_t undecided = 0;    // answers that nobody can judge, counted as wrong
  int64_t with_answer = 0;  // finished problems that have an answer
  // Of the finished problems, in the order of the set; the stages are names.
  TextList ids, answers, stages;
  double tokens_per_problem = 0;
  double prompt_tokens = 0;  // means of the counters in SearchResult
  double reward_tokens = 0;
  double verdict_tokens = 0;
  double speculated_tokens = 0;
  double model_calls = 0;
  double seconds = 0;  // wall time of the row
  TextList errors;     // "id: why" for problems that failed

  int64_t n() const;  // finished problems
  int64_t successes() const;
  double accuracy() const;
  double answered() const;  // share of problems with an answer
};

// InvalidArgument names methods that are equal in all their options, and equal
// budgets: their rows would count as further problems.
absl::Status CheckRepeats(const SweepOptions& options);

// The first n problems, or all if there are fewer.
absl::StatusOr<std::vector<Problem>> FirstProblems(
    const ProblemBlocks& problems, size_t n);

absl::StatusOr<std::vector<ResultRow>> RunSweep(
    Engine& engine, const std::string& set_name,
    absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const SweepOptions& options);

// The same over `count` problems, with only one block in memory at a time. On
// an error, `rows` holds the rows done before.
absl::Status RunSweep(Engine& engine, const std::string& set_name,
                      const ProblemBlocks& problems, int64_t count,
                      const Task& task, const Verifier& verifier,
                      const SweepOptions& options,
                      std::vector<ResultRow>& rows);

// Merges rows of the same method and budget over their seeds: a text table with
// accuracy, its 95 % interval over problems (a problem's seeds are averaged
// first), tokens and seconds; then rows that were cut short, and undecided
// answers. A row without a finished problem says so and is not in the JSON.
std::string SweepTable(const std::vector<ResultRow>& rows);
// `rows` outlive the result.
LongJson SweepJson(const std::vector<ResultRow>& rows);

// How far `method` is ahead of another at the same budget, on the problems that
// both have done; a problem's seeds are averaged first.
struct Comparison {
  std::string method, other;
  int64_t budget_tokens = 0;
  int64_t n = 0;  // problems
  PairedDifference difference;
};
// `method` against each other one, in the order of the rows.
std::vector<Comparison> CompareWith(const std::string& method,
                                    const std::vector<ResultRow>& rows);
std::string ComparisonTable(const std::vector<Comparison>& comparisons);
nlohmann::json ComparisonJson(const std::vector<Comparison>& comparisons);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SWEEP_H_
