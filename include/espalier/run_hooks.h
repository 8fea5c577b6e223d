// What a run may use in addition to the engine's models: a verifier, a custom
// reward model, a recorder, a stop flag, a progress callback.
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

// Records searches while they run; `espalier generate` uses it.
class SearchRecorder;

// All pointers must outlive the run.
struct RunHooks {
  const Verifier* verifier = nullptr;  // intrinsic: from Verifier::ForSearch()
  RewardModel* reward = nullptr;       // replaces the critic's heads
  // Set to true (e.g. by a signal handler) to end all searches; each returns
  // its best answer so far.
  const std::atomic<bool>* stop = nullptr;
  // Records the run. A stop then leaves searches unfinished, so that a later
  // run can resume them: they return nothing.
  SearchRecorder* recorder = nullptr;
  // Whether a response to problem `index` of the run is correct by its
  // reference; nullopt if undecidable. For methods that label training problems
  // (omega_prm), so only Generate sets it; evaluated searches never have it.
  std::function<std::optional<bool>(size_t index, std::string_view response)>
      grade = {};
  // Called for running searches, between batches and on the calling thread, at
  // most once per `progress_interval` seconds for each. Does not affect the
  // search.
  std::function<void(size_t index, const SearchSnapshot&)> on_progress = {};
  double progress_interval = 0.1;
  // Calls the verifier, `reward` and `grade` on background threads, several at
  // once, while models compute: for slow ones. Does not change results.
  bool background_checks = false;
};

}  // namespace espalier

#endif  // ESPALIER_API_RUN_HOOKS_H_
