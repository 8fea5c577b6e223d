// Response lengths of a set's problems, for commands that search a set.
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

// The first of `problems`, the set of `flags`, as many as MeasureResponseTokens
// needs. For a shard, the first of the whole set, so that all shards use the
// same.
absl::StatusOr<std::vector<Problem>> FirstOfAllShards(
    const SetFlags& flags, absl::Span<const Problem> problems);

// The budget of searches without --budget-tokens: eight times the tokens of one
// greedy response to the set's first problem (2,048 tokens at most). Prints it
// on stderr after `command`.
absl::StatusOr<int64_t> DefaultBudget(const char* command, Engine& engine,
                                      const Problem& first, const Task& task);
inline constexpr char kDefaultBudgetHelp[] =
    "Default: 8 times the tokens of a greedy response to the first problem";

// Prints on stderr, after `command`, which problems the budget is too small
// for, if any.
void PrintNote(const char* command, const ShortBudget& budget);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_
