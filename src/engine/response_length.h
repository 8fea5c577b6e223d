// How many tokens a response to a set's problems takes: what searches hold back
// for finishing one as long as they have no answer (SearchOptions).
#ifndef ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
#define ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "espalier/engine.h"

namespace espalier {

// Writes a greedy response to each of the first problems and sets
// response_tokens and response_tokens_per_byte of `search`: the least squares
// line through the lengths by the questions' bytes (never a falling one), moved
// up until none of them lies above it. Leaves both where they are known, where
// there is no budget of tokens, where no response ends, or if `stop` came
// first. The same for the same problems, and no part of any search's budget.
absl::Status MeasureResponseTokens(Engine& engine,
                                   absl::Span<const Problem> problems,
                                   const Task& task,
                                   const std::atomic<bool>* stop,
                                   SearchOptions& search);

// One line for the user where `problems` have fewer tokens than one response
// takes, as far as is known; else "".
std::string ShortBudgetNote(absl::Span<const Problem> problems,
                            const SearchOptions& search);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
