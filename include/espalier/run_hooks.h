// What a run may use beside the engine's models: a verifier, a reward model of
// your own, a recorder, a stop flag, a look at searches as they run.
#ifndef ESPALIER_API_RUN_HOOKS_H_
#define ESPALIER_API_RUN_HOOKS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "espalier/reward_model.h"
#include "espalier/search_result.h"
#include "espalier/verifier.h"

namespace espalier {

// Keeps searches as they run; `espalier generate` records by it.
class SearchRecorder;

// What a run may use beside the models. All outlive the run.
struct RunHooks {
  const Verifier* verifier = nullptr;  // intrinsic: ForSearch() of one
  RewardModel* reward = nullptr;       // in place of the critic's heads
  // Set to true (by a signal handler, say) to end all searches; each returns
  // its best answer so far.
  const std::atomic<bool>* stop = nullptr;
  // Records the run. A stop then leaves searches as they are, for a later run
  // to go on with: they return nothing.
  SearchRecorder* recorder = nullptr;
  // Whether a response to problem `index` of the run is right by its
  // reference; nothing where nobody can tell. For methods that label training
  // problems (omega_prm), hence set by Generate alone: a search whose answers
  // count has none.
  std::function<std::optional<bool>(size_t index, std::string_view response)>
      grade;
  // Called for searches under way, between batches and on the calling thread,
  // at most once in `progress_interval` seconds for each. It only looks: what
  // a search does is the same without it.
  std::function<void(size_t index, const SearchSnapshot&)> on_progress;
  double progress_interval = 0.1;
  // The verifier, `reward` and `grade` may take long: they are asked from
  // threads beside the calling one, several at once, while models compute. What
  // searches return is the same.
  bool background_checks = false;
};

}  // namespace espalier

#endif  // ESPALIER_API_RUN_HOOKS_H_
