// How the engine records its searches while they run, and resumes those that an
// earlier run left unfinished.
//
// The engine calls it on one thread: Recall for every request of a search;
// Append if nothing was recalled and the request was answered; Finish once a
// search has ended; and Flush after every round, before the models' next batch.
// Stop marks a search that a time limit stops. Of a run that several workers
// share, the recorder says which searches are this worker's: Claim and Lost.
#ifndef ESPALIER_SRC_TRACE_SEARCH_RECORDER_H_
#define ESPALIER_SRC_TRACE_SEARCH_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/run_hooks.h"
#include "espalier/search_result.h"
#include "search/search_context.h"
#include "search/tree/tree.h"

namespace espalier {

class SearchRecorder {
 public:
  virtual ~SearchRecorder() = default;

  // The problem of the run to search next, as an index that was not given
  // before; nothing: none now. Asked after every round, with the number of
  // problems begun so far, of all, and of searches that have room.
  virtual absl::StatusOr<std::optional<size_t>> Claim(size_t begun, size_t all,
                                                      size_t /*room*/) {
    if (begun == all) return std::nullopt;
    return begun;
  }
  // True if another worker has taken search `index` over: it ends without a
  // result. Asked after every round.
  virtual bool Lost(size_t /*index*/) { return false; }

  // The recorded completion of `request` of search `index` (its problem's index
  // in the run), or nothing. FailedPrecondition if the record belongs to
  // another request: model, options or program have changed.
  virtual absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t index, const SearchRequest& request) = 0;

  // `completion` was delivered to search `index`. Called in order of arrival.
  virtual absl::Status Append(size_t index, const SearchRequest& request,
                              const SearchCompletion& completion) = 0;

  // Search `index` was stopped before delivery `number`.
  virtual void Stop(size_t index, uint64_t number, std::string_view reason) = 0;

  // Search `index` is over. `result.status` may be an error of this search.
  virtual absl::Status Finish(size_t index, const Tree& tree,
                              const SearchResult& result) = 0;

  // Everything recorded so far must survive the end of this process.
  virtual absl::Status Flush() = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_SEARCH_RECORDER_H_
