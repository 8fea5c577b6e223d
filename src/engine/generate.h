// Searches a whole problem set and records every search in a run database.
//
//   ESP_ASSIGN_OR_RETURN(RunInfo info, DescribeRun(options, set, engine));
//   ESP_ASSIGN_OR_RETURN(int64_t run, OpenRun(*db, info, /*resume=*/true));
//   ESP_ASSIGN_OR_RETURN(GenerateTotals totals,
//                        Generate(*engine, *db, run, set, options));
//
// A run can be killed at any moment and resumed: finished searches are kept,
// searches in progress continue from their recorded completions, and only
// requests that were in flight are sent again. The final record is the same.
#ifndef ESPALIER_SRC_ENGINE_GENERATE_H_
#define ESPALIER_SRC_ENGINE_GENERATE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"
#include "espalier/search_options.h"
#include "src/trace/run_db.h"

namespace espalier {

class Engine;
struct EngineOptions;

struct GenerateOptions {
  SearchOptions search;          // `method` by name; seed of the first search
  int searches = 1;              // per problem, with seeds seed, seed + 1, ...
  bool reuse_solutions = false;  // answer solved problems from the database
  bool verifier_reward = false;  // VerifierReward instead of reward heads
  // PromptText of a resolved prompt (prompt.h); "": the task's own wording.
  std::string prompt;
};

// Totals of this run and the runs that it resumes.
struct GenerateTotals {
  int64_t searches = 0;  // in all
  int64_t done = 0;
  int64_t searched = 0;  // of done: ended by this call, not from a solution
  int64_t cached = 0;    // of done: answered from a solution
  int64_t failed = 0;
  std::string first_error = {};  // of the first search that failed in this call
  int64_t graded = 0;            // searches with a verdict, without cached ones
  int64_t solved = 0;            // of graded
  int64_t tokens = 0;            // sampled, in finished searches
  // Sampled ahead and not used, in searches that ended in this call: they are
  // of no tree and not recorded.
  int64_t speculated_tokens = 0;
  bool stopped = false;
};

// Hash of the folder's tokenizer.json or its substitute, or of the GGUF file,
// as in RunInfo.
absl::StatusOr<std::string> HashTokenizer(const std::string& folder);

// The arguments name the folders of the models that the engine was made from.
// `recorded`: a run that this one may be. What the policy's server would have
// to tell is then taken from it and no server is asked; FailedPrecondition if
// one has to be.
absl::StatusOr<RunInfo> DescribeRun(const GenerateOptions& options,
                                    const ProblemSet& set,
                                    const SetOptions& set_options,
                                    const EngineOptions& models,
                                    const RunInfo* recorded = nullptr);
// The options of a recorded run.
absl::StatusOr<GenerateOptions> OptionsOfRun(const RunInfo& info);

// The run to record to: a new one, or with `resume` the one that `info`
// describes. FailedPrecondition names the settings in which the closest
// recorded run differs.
absl::StatusOr<int64_t> OpenRun(RunDb& db, const RunInfo& info, bool resume);

// Counts a search that this call has ended.
void AddResult(std::optional<bool> correct, const SearchResult& result,
               GenerateTotals& totals);

struct GenerateHooks {
  const std::atomic<bool>* stop = nullptr;  // stops; the run can be resumed
  // Called after each search that ended.
  std::function<void(const GenerateTotals&)> progress;
  // Judges responses; null: the task's own.
  const Verifier* verifier = nullptr;
  // Searches that failed before are tried again, from what they had recorded.
  bool retry_failed = false;
};
// Refuses, before anything is recorded, a method or budget that these models
// cannot serve, as Generate would.
absl::Status CheckGenerate(Engine& engine, const Task& task,
                           const Verifier& verifier,
                           const GenerateOptions& options);
absl::StatusOr<GenerateTotals> Generate(Engine& engine, RunDb& db,
                                        int64_t run_id, const ProblemSet& set,
                                        const GenerateOptions& options,
                                        const GenerateHooks& hooks);

// Replays one recorded search and describes how its tree differs from the
// recorded one; "" if they are the same bit for bit.
absl::StatusOr<std::string> ReplaySearch(RunDb& db, const RunRow& run,
                                         const SearchRow& search,
                                         StoredTree* tree);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_GENERATE_H_
