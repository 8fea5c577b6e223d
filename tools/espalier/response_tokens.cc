#include "tools/espalier/response_tokens.h"

#include <cstdio>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "espalier/engine.h"
#include "src/engine/response_length.h"
#include "tools/espalier/command.h"
#include "tools/espalier/printable.h"

namespace espalier {

absl::StatusOr<std::vector<Problem>> FirstOfAllShards(
    const SetFlags& flags, absl::Span<const Problem> problems) {
  std::vector<Problem> first;
  if (flags.options.shards > 1) {
    SetFlags whole = flags;
    whole.shard = "0/1";
    ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(whole));
    first = ProblemsOf(set.problems);
  } else {
    first.assign(problems.begin(), problems.end());
  }
  if (first.size() > kMeasuredProblems) first.resize(kMeasuredProblems);
  return first;
}

absl::StatusOr<int64_t> DefaultBudget(const char* command, Engine& engine,
                                      const Problem& first, const Task& task) {
  constexpr int64_t kTimes = 8;
  // A response that never ends must not take longer than the search itself.
  constexpr int64_t kLongest = 2048;
  int64_t tokens = 0;
  ESP_RETURN_IF_ERROR(engine.SolveAll(
      absl::MakeConstSpan(&first, 1), task,
      {.method = "greedy", .max_tokens = kLongest}, {.stop = &StopRequested()},
      [&](size_t, const SearchResult& result) { tokens = result.tokens; }));
  if (StopRequested().load()) {
    return absl::CancelledError("stopped before a search began");
  }
  // It failed: the search itself will report why.
  if (tokens == 0) return SearchOptions().max_tokens;
  std::fprintf(stderr,
               "%s: budget %lld tokens per problem, %lld times the %lld of one "
               "greedy response; --budget-tokens sets it\n",
               command, static_cast<long long>(kTimes * tokens),
               static_cast<long long>(kTimes), static_cast<long long>(tokens));
  return kTimes * tokens;
}

void PrintNote(const char* command, const ShortBudget& budget) {
  const std::string note = budget.Note();
  if (!note.empty()) {
    std::fprintf(stderr, "%s: note: %s\n", command, Printable(note).c_str());
  }
}

}  // namespace espalier
