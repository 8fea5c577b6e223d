// Runs many searches over a set of backends.
//
// One loop: resume every search whose answers are there (in parallel), send
// the requests they made, run one batch of every backend, repeat. The next
// batch is what arrived while the last ran; there are no timers. Verdicts that
// take long are given on other threads meanwhile. New problems are admitted as
// old ones finish.
//
// What a search returns depends on its problem, options and seed alone.
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_RUNNER_H_
#define ESPALIER_SRC_ENGINE_RUNNER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "espalier/run_hooks.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "models/backend/backend.h"
#include "models/tokenizer/tokenizer.h"
#include "search/algorithm.h"
#include "src/engine/background_checks.h"
#include "src/engine/search_session.h"

namespace espalier {

// The models as the runner uses them. `critic` may be the policy's own backend,
// or null where hooks bring a reward model or the method needs none.
struct RunnerModels {
  Backend* policy = nullptr;
  const Tokenizer* policy_tokenizer = nullptr;
  Backend* critic = nullptr;
  const Tokenizer* critic_tokenizer = nullptr;
  // That write beside the policy, in the roles second, planner and prover. Each
  // a backend of its own, with the policy's tokenizer.
  std::vector<Backend*> more_policies = {};
};

// One call's worth of work; all referenced objects outlive the run.
struct RunnerJob {
  absl::Span<const Problem> problems;
  const Task* task = nullptr;
  const SearchAlgorithm* algorithm = nullptr;
  const SearchOptions* options = nullptr;
  const RunHooks* hooks = nullptr;
  std::function<void(size_t, SearchResult)> on_done;
  // Sees each tree before it goes, but for those of searches that failed
  // midway; for tests and traces. May be empty.
  std::function<void(size_t, const Tree&)> on_tree;
};

class Runner {
 public:
  Runner(RunnerModels models, Executor& executor, int live);

  absl::Status Run(const RunnerJob& job);

 private:
  struct PendingRequest {  // where a completion belongs
    SearchSession* live;
    SearchRequest request;
  };

  absl::Status CheckJob() const;
  absl::Status RunAll();
  absl::Status AdmitMore();
  absl::Status OpenSequences(SearchSession& live);
  void ResumeAll();
  absl::Status Dispatch(SearchSession& live);
  absl::Status Send(SearchSession& live, SearchRequest request);
  // Answers an Expand with its forced text.
  absl::Status Force(SearchSession& live, const SearchRequest& request,
                     int policy);
  void Submit(SearchSession& live, Backend& backend, SearchRequest request,
              Request body);
  // Registers a request whose completion comes later.
  RequestId Await(SearchSession& live, SearchRequest request);
  // Asks the hooks, when it is called, about a request's responses.
  BackgroundChecks::Check MakeCheck(SearchSession& live,
                                    const SearchRequest& request) const;
  // Has the hooks answer: at once, or where they are slow, later.
  absl::Status RunCheck(SearchSession& live, SearchRequest request);
  // Hands a completion to its search, and to the recorder.
  absl::Status Deliver(SearchSession& live, const SearchRequest& request,
                       SearchCompletion completion);
  // `policy`: which one it is; -1: none. Sets `stepped` if there was work.
  absl::Status StepBackend(Backend* backend, int policy, bool& stepped);
  // Hands over what slow checks say, once there is something if `wait`.
  absl::Status TakeChecks(bool wait);
  // Whether a step that a length limit ended is a whole segment.
  bool IsSegment(const PendingRequest& pending, const SampledStep& step) const;
  // Gives back a sample's sequence by its handle.
  void ReleaseHandle(int64_t handle);
  void CancelRequests(SearchSession& live);
  // Gives back what a search holds in the backends beside its nodes.
  void ReleaseRest(SearchSession& live);
  void EndStopped();
  absl::Status FinishDone();
  void ReportProgress();
  bool stop_asked() const;

  RunnerModels models_;
  std::vector<Backend*> policies_;  // the policy and those beside it
  Executor& executor_;
  const int live_limit_;

  const RunnerJob* job_ = nullptr;  // of the current Run
  size_t next_problem_ = 0;
  std::vector<std::unique_ptr<SearchSession>> live_;
  RequestId next_request_ = 1;
  absl::flat_hash_map<RequestId, PendingRequest> pending_;
  BackgroundChecks checks_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RUNNER_H_
