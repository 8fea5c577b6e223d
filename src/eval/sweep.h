// Methods compared at equal token budgets on one problem set.
//
//   SweepOptions options{.methods = {"majority", "beam"},
//                        .budgets = {300, 600}, .seeds = 3};
//   auto rows = RunSweep(*engine, set.problems, *task, *verifier, options);
//   std::cout << SweepTable(*rows);
//
// Grading happens after a search has ended and never feeds back: the searches
// are handed problems without references.
#ifndef ESPALIER_SRC_EVAL_SWEEP_H_
#define ESPALIER_SRC_EVAL_SWEEP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "nlohmann/json.hpp"
#include "src/eval/statistics.h"
#include "src/eval/text_list.h"

namespace espalier {

class Engine;

// What scores steps in a sweep.
enum class RewardSource {
  kModel,     // the reward heads
  kConstant,  // every step 0.5: what the search gains without a judge
  kVerifier,  // verdicts on whole responses, from the question alone
  kOracle,    // exact labels from the reference: an upper bound, marked
};

struct SweepOptions {
  std::vector<std::string> methods;
  std::vector<int64_t> budgets;  // tokens sampled per problem
  int seeds = 1;                 // search seeds 0 .. seeds-1, or from `seed`
  uint64_t seed = 0;
  // Further budgets and stops of every search; its method, tokens and seed
  // are the sweep's.
  SearchOptions search = {};
  RewardSource reward = RewardSource::kModel;
  const std::atomic<bool>* stop = nullptr;  // ends the sweep early
  // Called after each problem that is done, not cut short, with problems done
  // and all, over the sweep.
  std::function<void(int64_t done, int64_t all)> progress;
};

// Hands a set's problems to `use`, some at a time, in their order; all of them
// at each call. Ends with the first error of `use`.
using UseProblems =
    std::function<absl::Status(absl::Span<const GradedProblem>)>;
using ProblemBlocks = std::function<absl::Status(const UseProblems& use)>;

// One method at one budget with one seed.
struct ResultRow {
  std::string set;
  std::string method;         // as given
  std::string configuration;  // with all options
  int64_t budget_tokens = 0;
  nlohmann::json limits;  // further budgets and stops, those that are set
  uint64_t seed = 0;
  bool oracle = false;
  // False: stopped before all problems were done. Those whose searches were cut
  // short are not in it.
  bool complete = true;
  TextList ids;
  std::vector<int8_t> correct;  // 0 or 1, by position in ids
  int64_t undecided = 0;        // answers that nobody can judge, counted as 0
  TextList answers;
  std::vector<AnswerStage> stages;  // where the answers came from
  double tokens_per_problem = 0;
  double prompt_tokens = 0;  // the means of what SearchResult counts
  double reward_tokens = 0;
  double model_calls = 0;
  double seconds = 0;               // wall time of the row
  std::vector<std::string> errors;  // "id: why", problems that failed

  int64_t successes() const;
  double accuracy() const;
  double answered() const;  // share of problems with an answer
};

// InvalidArgument names methods that are the same in all their options, and
// budgets that are the same: their rows would be told as further problems.
absl::Status CheckRepeats(const SweepOptions& options);

// The first n problems, or all where there are fewer.
absl::StatusOr<std::vector<Problem>> FirstProblems(
    const ProblemBlocks& problems, size_t n);

absl::StatusOr<std::vector<ResultRow>> RunSweep(
    Engine& engine, const std::string& set_name,
    absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const SweepOptions& options);

// The same over `count` problems of which a block at a time is in memory. Rows
// that were done before an error are in `rows`.
absl::Status RunSweep(Engine& engine, const std::string& set_name,
                      const ProblemBlocks& problems, int64_t count,
                      const Task& task, const Verifier& verifier,
                      const SweepOptions& options,
                      std::vector<ResultRow>& rows);

// Rows of the same method and budget, their seeds put together: a text table
// with accuracy, its 95 % interval over problems (a problem's seeds are
// averaged first), tokens and seconds; below it rows that were cut short, and
// undecided answers. A row without a finished problem says so, and is not in
// the JSON.
std::string SweepTable(const std::vector<ResultRow>& rows);
nlohmann::json SweepJson(const std::vector<ResultRow>& rows);

// How far `method` is ahead of another at the same budget, on the problems
// that both have done; a problem's seeds are averaged first.
struct Comparison {
  std::string method, other;
  int64_t budget_tokens = 0;
  int64_t n = 0;  // problems
  PairedDifference difference;
};
// `method` against each other one, in the rows' order.
std::vector<Comparison> CompareWith(const std::string& method,
                                    const std::vector<ResultRow>& rows);
std::string ComparisonTable(const std::vector<Comparison>& comparisons);
nlohmann::json ComparisonJson(const std::vector<Comparison>& comparisons);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SWEEP_H_
