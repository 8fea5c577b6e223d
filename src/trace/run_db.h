// The run database: runs, problems, searches, their trees and logs.
//
//   ESP_ASSIGN_OR_RETURN(auto db, RunDb::Open("run.db", Sqlite::kRead));
//   ESP_ASSIGN_OR_RETURN(std::vector<SearchRow> rows, db->Searches(run_id));
//   ESP_ASSIGN_OR_RETURN(StoredTree tree, db->LoadTree(rows[0].search_id));
//
// One program writes at a time; a second one is refused at once. Writes are
// batched in a transaction until Commit. Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_RUN_DB_H_
#define ESPALIER_SRC_TRACE_RUN_DB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "src/trace/search_store.h"
#include "src/trace/sqlite.h"
#include "src/trace/stored_tree.h"

namespace espalier {

// Everything that determines a run's content.
struct RunInfo {
  std::string kind;    // "generate"
  std::string config;  // JSON object
  uint64_t seed = 0;
  std::string method;  // canonical
  std::string model;   // folder, informational
  std::string model_hash;
  std::string tokenizer_hash;
  std::string reward_model_hash;
};

struct RunRow {
  int64_t run_id = 0;
  RunInfo info;
  std::string config_hash;
  std::string version;
  std::string started_at;
  std::string finished_at;  // "": not finished
};

struct SearchRow {
  int64_t search_id = 0;
  int64_t run_id = 0;
  int64_t problem_id = 0;
  std::string problem;  // its name
  uint64_t seed = 0;
  SearchState state = SearchState::kRunning;
  bool cached = false;
  std::string answer;
  std::optional<bool> correct;
  int64_t tokens = 0;
  int64_t nodes = 0;
};

// A hash of what determines a run, in hexadecimal.
std::string ConfigHash(const RunInfo& info);

class RunDb : public SearchStore {
 public:
  static absl::StatusOr<std::unique_ptr<RunDb>> Open(const std::string& path,
                                                     Sqlite::Mode mode);
  ~RunDb() override;
  RunDb(const RunDb&) = delete;
  RunDb& operator=(const RunDb&) = delete;

  absl::StatusOr<int64_t> AddRun(const RunInfo& info);
  absl::StatusOr<std::vector<RunRow>> Runs();
  absl::Status FinishRun(int64_t run_id);

  // The problem's row, added if its name is new. InvalidArgument if a problem
  // of that name has another question or another reference answer.
  absl::StatusOr<int64_t> AddProblem(const GradedProblem& problem,
                                     const std::string& set,
                                     const std::string& task);
  absl::StatusOr<GradedProblem> LoadProblem(int64_t problem_id,
                                            std::string* task);

  // The search of a problem in a run; starts one if there is none.
  absl::StatusOr<SearchRow> BeginSearch(int64_t run_id, int64_t problem_id,
                                        uint64_t seed);
  absl::StatusOr<std::vector<SearchRow>> Searches(int64_t run_id);
  // Log entries of an unfinished search, in order of their requests.
  absl::StatusOr<std::vector<std::string>> Responses(int64_t search_id);
  absl::Status AddResponse(int64_t search_id, uint64_t number,
                           std::string_view entry) override;
  absl::Status FinishSearch(int64_t search_id,
                            const FinishedSearch& finished) override;
  // Makes a search that failed one that is not finished: it goes on from the
  // completions in its log, or anew if they were pruned.
  absl::Status ReopenSearch(int64_t search_id);
  // Ends a search with a solution found before; it has no tree.
  absl::Status FinishFromCache(int64_t search_id, const std::string& answer);
  absl::StatusOr<StoredTree> LoadTree(int64_t search_id);
  absl::StatusOr<std::vector<LogEntry>> LoadLog(int64_t search_id);

  absl::Status AddSolution(int64_t problem_id, int64_t run_id,
                           const Solution& solution);
  // The most likely solution of a problem, if any is known.
  absl::StatusOr<std::optional<Solution>> BestSolution(int64_t problem_id);

  // Drops what only replay needs; trees stay. `run_id` 0: all runs.
  absl::Status PruneLogs(int64_t run_id);
  // Drops a run with its searches, trees and solutions.
  absl::Status DropRun(int64_t run_id);
  // Commits, and returns the space of dropped rows to the disk.
  absl::Status Compact();

  // Starts a transaction unless one is open; Commit ends it. Functions that
  // write call it themselves.
  absl::Status BeginWriting();
  absl::Status Commit() override;
  Sqlite& sqlite() { return db_; }

 private:
  explicit RunDb(Sqlite db) : db_(std::move(db)) {}
  absl::Status LockForWriting();
  // DataLoss if the path no longer names the file that is written, or the file
  // is shorter than it was.
  absl::Status CheckStillThere();
  absl::Status AddTree(int64_t search_id, const FinishedSearch& finished);
  absl::Status AddSolutionOf(int64_t search_id, const Solution& solution);
  absl::Status DropResponses(int64_t search_id);
  // The statement for `sql`, prepared once.
  absl::StatusOr<Statement*> Prepared(const char* sql);

  int lock_ = -1;  // holds the writer's lock; closed after db_
  Sqlite db_;
  bool in_transaction_ = false;
  int64_t size_ = 0;  // size of the file after the last Commit
  std::vector<std::pair<const char*, std::unique_ptr<Statement>>> prepared_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_RUN_DB_H_
