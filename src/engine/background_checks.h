// Verdicts and rewards that are slow because they run a program. They run on
// separate threads, so that the models keep computing and several programs run
// at a time.
//
//   BackgroundChecks checks(executor.threads());
//   checks.Ask(id, [&] { return Verify(response); });
//   for (auto& [id, completion] : checks.Take(/*wait=*/false)) ...
//
// Call its functions from one thread; the checks run on any thread.
#ifndef ESPALIER_SRC_ENGINE_BACKGROUND_CHECKS_H_
#define ESPALIER_SRC_ENGINE_BACKGROUND_CHECKS_H_

#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "models/backend/backend.h"
#include "search/search_context.h"

namespace espalier {

class BackgroundChecks {
 public:
  using Check = std::function<SearchCompletion()>;
  using Answer = std::pair<RequestId, SearchCompletion>;

  // At most `threads` checks run at a time; threads start when needed.
  explicit BackgroundChecks(int threads) : most_(threads) {}
  // As Clear.
  ~BackgroundChecks();
  BackgroundChecks(const BackgroundChecks&) = delete;
  BackgroundChecks& operator=(const BackgroundChecks&) = delete;

  // Calls `check` on another thread. It must not throw.
  void Ask(RequestId id, Check check);
  // The answers since the last call. Waits for one if `wait` is set and there
  // are checks whose answers were not taken yet.
  std::vector<Answer> Take(bool wait);
  // Drops a check that has not begun; one that has begun is still answered.
  void Cancel(RequestId id);
  // Waits for the running checks and forgets everything.
  void Clear();

 private:
  void Work();

  const int most_;
  std::vector<std::thread> threads_;
  Mutex mutex_;
  CondVar asked_, answered_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::pair<RequestId, Check>> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_BACKGROUND_CHECKS_H_
