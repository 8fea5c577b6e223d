// What a response to a set's problems takes, for commands that search a set.
#ifndef ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_
#define ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/engine/response_length.h"
#include "tools/espalier/set_flags.h"

namespace espalier {

class Engine;

// The first of `problems`, which are the set of `flags`, as many as
// MeasureResponseTokens takes; where they are a shard, the first of the whole
// set, so that all shards do the same.
absl::StatusOr<std::vector<Problem>> FirstOfAllShards(
    const SetFlags& flags, absl::Span<const Problem> problems);

// The budget of searches whose --budget-tokens is not given: eight times what
// one greedy response to the set's first problem samples (2,048 tokens at
// most), said on stderr after `command`.
absl::StatusOr<int64_t> DefaultBudget(const char* command, Engine& engine,
                                      const Problem& first, const Task& task);
inline constexpr char kDefaultBudgetHelp[] =
    "Default: 8 times what one greedy response to the first problem samples";

// What a budget is short of, on stderr after `command`, if it is.
void PrintNote(const char* command, const ShortBudget& budget);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_
