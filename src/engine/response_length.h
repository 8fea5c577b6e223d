// How many tokens a response to a set's problems takes: what searches hold back
// for finishing one as long as they have no answer (SearchOptions).
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
// response_tokens and response_tokens_per_byte of `search`: the least squares
// line through the lengths by the questions' bytes (never a falling one), moved
// up until none of them lies above it. Leaves both where they are known, where
// there is no budget of tokens, where no response ends, or if `stop` came
// first: some of the lengths would be another line, and searches that a later
// run goes on with would be others. The same for the same problems, and no part
// of any search's budget.
absl::Status MeasureResponseTokens(Engine& engine,
                                   absl::Span<const Problem> problems,
                                   const Task& task,
                                   const std::atomic<bool>* stop,
                                   SearchOptions& search);

// How many of the first problems that asks.
inline constexpr size_t kMeasuredProblems = 24;

// Finds problems that have fewer tokens than an answer of `search.method`
// takes, as far as is known: those of one response and a half, or of several
// responses where the method samples several before it has one and nothing
// finishes one of them (SearchAlgorithm::responses_for_an_answer).
class ShortBudget {
 public:
  explicit ShortBudget(const SearchOptions& search);
  void Add(const Problem& problem);
  int64_t responses() const { return responses_; }
  // One line for the user; "" where there are none.
  std::string Note() const;

 private:
  const SearchOptions search_;
  int64_t responses_ = 1;  // for an answer
  int64_t problems_ = 0, most_ = 0, without_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
