// Where searches are recorded: the run database, or a queue that many workers
// share.
#ifndef ESPALIER_SRC_TRACE_SEARCH_STORE_H_
#define ESPALIER_SRC_TRACE_SEARCH_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/search_result.h"
#include "src/trace/stored_tree.h"

namespace espalier {

enum class SearchState { kRunning, kDone, kFailed };

const char* SearchStateName(SearchState state);

struct Solution {
  std::string response;
  double logprob = 0;
  int64_t tokens = 0;
};

// What stays of a search: a row of `searches`, its tree and its log, and the
// correct responses that it found.
struct FinishedSearch {
  SearchState state = SearchState::kDone;
  std::string answer;  // "": none
  std::optional<bool> correct;
  double score = 0;
  std::string stop_reason;
  std::string error;  // of a failed one
  std::string stage;
  int64_t tokens = 0;
  int64_t prompt_tokens = 0;
  int64_t reward_tokens = 0;
  int64_t verdict_tokens = 0;
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
  std::string tree;  // EncodeTree, compressed; "": none
  std::string log;   // EncodeLog, compressed; "": none
  std::vector<Solution> solutions;
};

// Without solutions. `log`: encoded entries.
absl::StatusOr<FinishedSearch> Finished(const SearchResult& result,
                                        std::optional<bool> correct,
                                        const StoredTree& tree,
                                        absl::Span<const std::string> log);

// Thread-compatible.
class SearchStore {
 public:
  virtual ~SearchStore() = default;
  // Adds the answer to request `number` of an unfinished search.
  virtual absl::Status AddResponse(int64_t search_id, uint64_t number,
                                   std::string_view entry) = 0;
  // Ends a search; its responses are dropped.
  virtual absl::Status FinishSearch(int64_t search_id,
                                    const FinishedSearch& finished) = 0;
  // What was written so far must survive the end of this process.
  virtual absl::Status Commit() = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_SEARCH_STORE_H_
