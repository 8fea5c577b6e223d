#include "src/engine/response_length.h"

#include <algorithm>
#include <vector>

#include "src/base/status_macros.h"

namespace espalier {

absl::StatusOr<int64_t> MeasureResponseTokens(
    Engine& engine, absl::Span<const Problem> problems, const Task& task,
    const std::atomic<bool>* stop) {
  constexpr size_t kProblems = 20;
  // One that goes on for ever says nothing of the others.
  constexpr int64_t kLongest = 16384;
  std::vector<int64_t> lengths;
  ESP_RETURN_IF_ERROR(engine.SolveAll(
      problems.first(std::min(problems.size(), kProblems)), task,
      {.method = "greedy", .max_tokens = kLongest}, {.stop = stop},
      [&](size_t, const SearchResult& result) {
        if (result.answer.empty() || result.tokens == 0) return;
        lengths.push_back(result.tokens);
      }));
  if (lengths.empty()) return 0;
  std::sort(lengths.begin(), lengths.end());
  return lengths[(lengths.size() - 1) * 9 / 10];
}

}  // namespace espalier
