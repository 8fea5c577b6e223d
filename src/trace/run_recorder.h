// Records the searches of a run in a run database, and returns what an
// interrupted run had recorded of them.
//
//   RunRecorder recorder(db, run_id, grade);
//   for (const GradedProblem& p : problems) recorder.Add(problem_id, seed);
//   engine->SolveAll(questions, task, options, {.recorder = &recorder}, ...);
//
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_RUN_RECORDER_H_
#define ESPALIER_SRC_TRACE_RUN_RECORDER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/trace/run_db.h"
#include "src/trace/search_recorder.h"

namespace espalier {

class RunRecorder : public SearchRecorder {
 public:
  // Whether `response` to the problem of search `index` is correct; nothing if
  // nobody can tell.
  using Grade =
      std::function<std::optional<bool>(size_t index, std::string_view)>;

  // `db` outlives the recorder. Correct responses are added to its solutions.
  RunRecorder(RunDb& db, int64_t run_id, Grade grade)
      : db_(db), run_id_(run_id), grade_(std::move(grade)) {}

  // The next search (index 0, 1, ...), started or resumed. Its row shows if it
  // is already over; then it must not be run.
  absl::StatusOr<SearchRow> Add(int64_t problem_id, uint64_t seed);
  // Undoes the last Add: that search is over and gets no index.
  void Forget() { searches_.pop_back(); }

  absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t index, const SearchRequest& request) override;
  absl::Status Append(size_t index, const SearchRequest& request,
                      const SearchCompletion& completion) override;
  void Stop(size_t index, uint64_t number, std::string_view reason) override;
  absl::Status Finish(size_t index, const Tree& tree,
                      const SearchResult& result) override;
  absl::Status Flush() override { return db_.Commit(); }

  // Verdict on the result of search `index` once it has finished.
  std::optional<bool> correct(size_t index) const {
    return searches_[index].correct;
  }

 private:
  struct Search {
    int64_t search_id = 0;
    int64_t problem_id = 0;
    std::map<uint64_t, LogEntry>
        recalled;                         // by number; not requested again yet
    std::map<uint64_t, std::string> log;  // by number, encoded
    std::vector<LogEntry> samples;        // of the log: tokens and log-probs
    std::string stop;                     // encoded entry of a stop
    std::optional<bool> correct;
  };
  absl::Status KeepSolution(Search& search, const StoredTree& tree,
                            size_t node);

  RunDb& db_;
  const int64_t run_id_;
  const Grade grade_;
  std::vector<Search> searches_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_RUN_RECORDER_H_
