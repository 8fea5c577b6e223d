// How many tokens a response to a set's problems takes: what searches hold back
// for finishing one as long as they have no answer (SearchOptions).
#ifndef ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
#define ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/engine.h"

namespace espalier {

// Writes a greedy response to each of the first problems. The length that nine
// in ten of them do not exceed; 0 where none ends, or if `stop` came first. The
// same for the same problems, and no part of any search's budget.
absl::StatusOr<int64_t> MeasureResponseTokens(
    Engine& engine, absl::Span<const Problem> problems, const Task& task,
    const std::atomic<bool>* stop = nullptr);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RESPONSE_LENGTH_H_
