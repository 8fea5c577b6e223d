// Searches a whole problem set and records every search in a run database.
//
//   ESP_ASSIGN_OR_RETURN(RunInfo info, DescribeRun(options, set, engine));
//   ESP_ASSIGN_OR_RETURN(int64_t run, OpenRun(*db, info, /*resume=*/true));
//   ESP_ASSIGN_OR_RETURN(GenerateTotals totals,
//                        Generate(*engine, *db, run, set, options));
//
// Killed at any moment, a run goes on where it stood: searches that had ended
// stay, searches under way are taken up inside, and only requests that were
// with a model are asked again. What is recorded in the end is the same.
#ifndef ESPALIER_SRC_ENGINE_GENERATE_H_
#define ESPALIER_SRC_ENGINE_GENERATE_H_

#include <atomic>
#include <functional>
#include <memory>
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
  int searches = 1;              // a problem, with seeds seed, seed + 1, ...
  bool reuse_solutions = false;  // answer solved problems from the database
  bool verifier_reward = false;  // VerifierReward in place of reward heads
  // PromptText of a resolved prompt (prompt.h); "": the task's own wording.
  std::string prompt;
};

// What was done, in this run and the ones that it goes on from.
struct GenerateTotals {
  int64_t searches = 0;  // in all
  int64_t done = 0;
  int64_t searched = 0;  // of done: ended by this call, none from a solution
  int64_t cached = 0;    // of done: answered from a solution
  int64_t failed = 0;
  int64_t graded = 0;  // searches with a verdict, cached ones left out
  int64_t solved = 0;  // of graded
  int64_t tokens = 0;  // sampled, in searches that have ended
  bool stopped = false;
};

// Of the folder's tokenizer.json or what it has in its place, or of the GGUF
// file, as RunInfo has it.
absl::StatusOr<std::string> HashTokenizer(const std::string& folder);

// Folders of the models that the engine was made from.
absl::StatusOr<RunInfo> DescribeRun(const GenerateOptions& options,
                                    const ProblemSet& set,
                                    const SetOptions& set_options,
                                    const EngineOptions& models);
// The options of a recorded run.
absl::StatusOr<GenerateOptions> OptionsOfRun(const RunInfo& info);

// The run to record to: a new one, or with `resume` the one that `info`
// describes. FailedPrecondition names the settings in which the nearest
// recorded run differs.
absl::StatusOr<int64_t> OpenRun(RunDb& db, const RunInfo& info, bool resume);

struct GenerateHooks {
  const std::atomic<bool>* stop = nullptr;  // leaves the run to be resumed
  // Called after each search that ended.
  std::function<void(const GenerateTotals&)> progress;
  // Judges responses; null: the task's own.
  const Verifier* verifier = nullptr;
};
absl::StatusOr<GenerateTotals> Generate(Engine& engine, RunDb& db,
                                        int64_t run_id, const ProblemSet& set,
                                        const GenerateOptions& options,
                                        const GenerateHooks& hooks);

// Replays one recorded search and says how its tree differs from the recorded
// one; "" where it is the same bit for bit.
absl::StatusOr<std::string> ReplaySearch(RunDb& db, const RunRow& run,
                                         const SearchRow& search,
                                         StoredTree* tree);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_GENERATE_H_
