// What a response to a set's problems takes, for commands that search a set.
#ifndef ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_
#define ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/engine.h"
#include "tools/espalier/set_flags.h"

namespace espalier {

// MeasureResponseTokens on `problems`, which are the set of `flags`; where they
// are a shard, on the whole set, so that all shards do the same.
absl::Status MeasureSet(Engine& engine, const SetFlags& flags,
                        absl::Span<const Problem> problems, const Task& task,
                        SearchOptions& search);

// The budget of searches whose --budget-tokens is not given: eight times what
// one greedy response to the first problem samples (2,048 tokens at most), said
// on stderr after `command`. The same for all shards of a set.
absl::StatusOr<int64_t> DefaultBudget(const char* command, Engine& engine,
                                      const Problem& first, const Task& task);
absl::StatusOr<int64_t> DefaultBudget(const char* command, Engine& engine,
                                      const SetFlags& flags,
                                      absl::Span<const Problem> problems,
                                      const Task& task);
inline constexpr char kDefaultBudgetHelp[] =
    "Default: 8 times what one greedy response to the first problem samples";

// ShortBudgetNote on stderr, after `command`, if there is one.
void PrintShortBudget(const char* command, absl::Span<const Problem> problems,
                      const SearchOptions& search);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_RESPONSE_TOKENS_H_
