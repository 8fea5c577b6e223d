// How many tokens a response to a set's problems takes. Searches reserve this
// much to finish one while they have no answer (SearchOptions).
#ifndef ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
#define ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/search_options.h"
#include "espalier/task.h"

namespace espalier {

class Engine;

// Writes a greedy response to each of the first problems and sets
// response_tokens and response_tokens_per_byte of `search`: the least-squares
// line of response tokens over question bytes (slope never negative), shifted
// up until no response is above it. Changes neither if they are known, if there
// is no token budget, if no response ends, or if `stop` came first: a subset of
// the lengths would give another line, and a resumed run other searches.
// Deterministic for the same problems; not charged to any search's budget.
absl::Status MeasureResponseTokens(Engine& engine,
                                   absl::Span<const Problem> problems,
                                   const Task& task,
                                   const std::atomic<bool>* stop,
                                   SearchOptions& search);

// How many problems it measures.
inline constexpr size_t kMeasuredProblems = 24;

// Finds problems with fewer tokens than `search.method` needs for an answer, as
// far as is known: one and a half responses, or several responses if the method
// samples several before it has an answer and nothing finishes one of them
// (SearchAlgorithm::responses_for_an_answer).
class ShortBudget {
 public:
  explicit ShortBudget(const SearchOptions& search);
  void Add(const Problem& problem);
  int64_t responses() const { return responses_; }
  // One line for the user; "" if there are no such problems.
  std::string Note() const;

 private:
  const SearchOptions search_;
  int64_t responses_ = 1;  // needed for an answer
  int64_t problems_ = 0, most_ = 0, without_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
