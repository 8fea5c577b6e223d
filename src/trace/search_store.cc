#include "src/trace/search_store.h"

#include "base/status_macros.h"

namespace espalier {

const char* SearchStateName(SearchState state) {
  switch (state) {
    case SearchState::kRunning:
      return "running";
    case SearchState::kDone:
      return "done";
    case SearchState::kFailed:
      return "failed";
  }
  return "?";
}

absl::StatusOr<FinishedSearch> Finished(const SearchResult& result,
                                        std::optional<bool> correct,
                                        const StoredTree& tree,
                                        absl::Span<const std::string> log) {
  const bool ok = result.status.ok();
  FinishedSearch finished{
      .state = ok ? SearchState::kDone : SearchState::kFailed,
      .answer = result.answer,
      .correct = correct,
      .score = result.score,
      .stop_reason = result.stop_reason,
      .error = std::string(result.status.message()),
      .stage = std::string(AnswerStageName(result.stage)),
      .tokens = result.tokens,
      .prompt_tokens = result.prompt_tokens,
      .reward_tokens = result.reward_tokens,
      .verdict_tokens = result.verdict_tokens,
      .model_calls = result.model_calls,
      .simulations = result.simulations,
      .nodes = result.nodes,
      .seconds = result.seconds};
  ESP_ASSIGN_OR_RETURN(finished.tree, Compress(EncodeTree(tree)));
  ESP_ASSIGN_OR_RETURN(finished.log, Compress(EncodeLog(log)));
  return finished;
}

}  // namespace espalier
