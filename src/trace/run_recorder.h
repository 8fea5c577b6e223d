// Records the searches of a run in a run database or a queue, and returns what
// an interrupted run had recorded of them.
//
//   RunRecorder recorder(db, grade);
//   ESP_RETURN_IF_ERROR(recorder.Begin(0, search_id, responses));
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

#include "absl/types/span.h"
#include "src/trace/search_recorder.h"
#include "src/trace/search_store.h"

namespace espalier {

class RunRecorder : public SearchRecorder {
 public:
  // Whether `response` to the problem of search `index` is correct; nothing if
  // nobody can tell.
  using Grade =
      std::function<std::optional<bool>(size_t index, std::string_view)>;

  // `store` outlives the recorder. Correct responses are added to its
  // solutions.
  RunRecorder(SearchStore& store, Grade grade)
      : store_(store), grade_(std::move(grade)) {}

  // Search `index` of the run is `search_id` of the store, with the responses
  // that were recorded before, if it was under way. Called before it is run.
  absl::Status Begin(size_t index, int64_t search_id,
                     absl::Span<const std::string> responses);
  // Search `index` is no longer run here: what is known of it is freed.
  void Leave(size_t index) { searches_.erase(index); }

  absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t index, const SearchRequest& request) override;
  absl::Status Append(size_t index, const SearchRequest& request,
                      const SearchCompletion& completion) override;
  void Stop(size_t index, uint64_t number, std::string_view reason) override;
  absl::Status Finish(size_t index, const Tree& tree,
                      const SearchResult& result) override;
  absl::Status Flush() override { return store_.Commit(); }

  // Verdict on the result of search `index` once it has finished.
  std::optional<bool> correct(size_t index) const {
    return searches_.at(index).correct;
  }

 private:
  struct Search {
    int64_t search_id = 0;
    std::map<uint64_t, LogEntry>
        recalled;                         // by number; not requested again yet
    std::map<uint64_t, std::string> log;  // by number, encoded
    std::vector<LogEntry> samples;        // of the log: tokens and log-probs
    std::string stop;                     // encoded entry of a stop
    std::optional<bool> correct;
  };

  SearchStore& store_;
  const Grade grade_;
  std::map<size_t, Search> searches_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_RUN_RECORDER_H_
