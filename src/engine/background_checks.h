// Verdicts and rewards that take long to give, because a program runs: asked on
// threads of their own, so that the models compute meanwhile and several
// programs run at a time.
//
//   BackgroundChecks checks(executor.threads());
//   checks.Ask(id, [&] { return Verify(response); });
//   for (auto& [id, completion] : checks.Take(/*wait=*/false)) ...
//
// Its functions are for one thread; what is asked is called on any.
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

  // At most `threads` checks at a time; threads start as they are needed.
  explicit BackgroundChecks(int threads) : most_(threads) {}
  // As Clear.
  ~BackgroundChecks();
  BackgroundChecks(const BackgroundChecks&) = delete;
  BackgroundChecks& operator=(const BackgroundChecks&) = delete;

  // Calls `check` on another thread. It must not throw.
  void Ask(RequestId id, Check check);
  // What was answered since the last call. Waits for one if `wait` and there
  // is something asked that was not taken.
  std::vector<Answer> Take(bool wait);
  // Drops a check that has not begun; of one that has, the answer still comes.
  void Cancel(RequestId id);
  // Forgets what was asked, once the checks under way have ended.
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
