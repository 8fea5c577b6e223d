// Runs many searches over a set of backends.
//
// One loop: resume every search that has completions (in parallel), submit the
// requests they made, run one batch of every backend, repeat. Requests that
// arrive while a batch runs form the next one; there are no timers. Slow
// verdicts are computed on other threads meanwhile. New problems are admitted
// as old ones finish.
//
// A run may also be of jobs that come one by one, each with a task and options
// of its own.
//
// The result of a search depends only on its problem, options and seed.
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_RUNNER_H_
#define ESPALIER_SRC_ENGINE_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "espalier/run_hooks.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "models/backend/backend.h"
#include "models/reward/calibration.h"
#include "models/tokenizer/tokenizer.h"
#include "search/algorithm.h"
#include "src/engine/background_checks.h"
#include "src/engine/reward_reader.h"
#include "src/engine/search_session.h"

namespace espalier {

// The models that the runner uses. `critic` may be the policy's own backend, or
// null if hooks supply a reward model or the method needs none.
struct RunnerModels {
  Backend* policy = nullptr;
  const Tokenizer* policy_tokenizer = nullptr;
  Backend* critic = nullptr;
  const Tokenizer* critic_tokenizer = nullptr;
  // Models that write in the roles second, planner and prover. Each is a
  // separate backend with the policy's tokenizer.
  std::vector<Backend*> more_policies = {};
  // How `critic`, a backend of its own, is read; null: by its reward head.
  const RewardScorer* scorer = nullptr;
  // The second model of a format that compares two.
  Backend* reference = nullptr;
  // Makes probabilities of the critic's scores; null: they stay as they are.
  const Calibration* calibration = nullptr;
  bool logprobs = true;  // all that write tell the log-probs of their tokens
};

// True if a model's server does not answer any more.
bool ServerIsGone(const absl::Status& status);

// One call's worth of work; all referenced objects outlive the run, or, of a
// job that is served, live as long as the job.
struct RunnerJob {
  absl::Span<const Problem> problems;
  const Task* task = nullptr;
  const SearchAlgorithm* algorithm = nullptr;
  const SearchOptions* options = nullptr;
  const RunHooks* hooks = nullptr;
  std::function<void(size_t, SearchResult)> on_done;
  // Called with each tree before it is freed, except those of searches that
  // failed midway; for tests and traces. May be empty.
  std::function<void(size_t, const Tree&)> on_tree;
};

class Runner {
 public:
  // `speculate`: EngineOptions::speculate.
  Runner(RunnerModels models, Executor& executor, int session_limit,
         int speculate = 0);

  absl::Status Run(const RunnerJob& job);
  // Runs jobs of one problem each until `next` gives none. Null with `wait`:
  // there are none any more; without it: none now. A search that fails, even
  // because a server is gone, leaves the others alone.
  using NextJob = std::function<std::shared_ptr<const RunnerJob>(bool wait)>;
  void Serve(const NextJob& next);
  // Of all searches run so far.
  const RewardReaderStats& reward_stats() const { return reward_stats_; }

 private:
  struct PendingRequest {  // where a completion is delivered
    SearchSession* session;
    SearchRequest request;
    std::vector<NodeId> read = {};  // of a RewardQuery
    uint64_t part = 0;              // of a StepJudge's part; 0: none
    bool ahead = false;             // of a Speculation's samples
  };

  absl::Status CheckJob(const RunnerJob& job) const;
  // Refuses a method that reads levels which the reward model does not give.
  absl::Status CheckLevels(const RunnerJob& job) const;
  // Stored with the reward model.
  LevelWeights level_weights(const RunnerJob& job) const;
  absl::Status RunAll();
  // Resumes searches, sends what they ask for and takes leave of those that
  // have ended.
  absl::Status Advance();
  // One batch of every model, and what checks have answered.
  absl::Status StepModels();
  absl::Status AdmitMore();
  // Index of the problem to search next, if any.
  absl::StatusOr<std::optional<size_t>> NextProblem();
  std::unique_ptr<SearchSession> NewSession(
      std::shared_ptr<const RunnerJob> job, size_t index) const;
  absl::Status OpenSequences(SearchSession& session);
  void ResumeAll();
  absl::Status Dispatch(SearchSession& session);
  absl::Status Send(SearchSession& session, SearchRequest request);
  // Answers an Expand with its forced text.
  absl::Status Force(SearchSession& session, const SearchRequest& request,
                     int policy);
  void Submit(SearchSession& session, Backend& backend, SearchRequest request,
              Request body);
  // An Expand as the backend of policy number `policy` reads it.
  GenerateRequest ToGenerate(SearchSession& session,
                             const SearchRequest& request, size_t policy) const;
  // What the samples of an Expand are to its search.
  SearchCompletion Completed(SearchSession& session,
                             const SearchRequest& request,
                             std::vector<Continuation> continuations,
                             int policy) const;
  // Sends an Expand of policy number `policy`, or answers it by what was
  // sampled ahead.
  absl::Status SendOrTakeAhead(SearchSession& session, SearchRequest request,
                               size_t policy, GenerateRequest body);
  // Samples what may follow `nodes`, among which the search will choose.
  void SampleAhead(SearchSession& session, absl::Span<const NodeId> nodes);
  // Keeps what was sampled ahead, or delivers it to a search that waits for it.
  absl::Status TakeAhead(SearchSession& session, Completion completion,
                         int policy);
  void ReleaseSpare(SearchSession& session);
  // Sends an Evaluate to the critic.
  absl::Status SendEvaluate(SearchSession& session, SearchRequest request);
  // Sends what a session's judge asks for and delivers what it has judged.
  absl::Status ServeJudge(SearchSession& session);
  // Opens the reader of a critic of a published format.
  absl::Status OpenReader(SearchSession& session, std::string question);
  // Registers a request whose completion comes later.
  RequestId Await(SearchSession& session, SearchRequest request);
  // When called, queries the hooks about a request's responses.
  BackgroundChecks::Check MakeCheck(SearchSession& session,
                                    const SearchRequest& request) const;
  // Queries the hooks: at once, or in the background if they are slow.
  absl::Status RunCheck(SearchSession& session, SearchRequest request);
  // Applies the critic's calibration to the scores of an Evaluate.
  void Calibrate(const RunHooks& hooks, std::vector<StepScores>& scores) const;
  // Delivers a completion to its search and to the recorder.
  absl::Status Deliver(SearchSession& session, const SearchRequest& request,
                       SearchCompletion completion);
  // `policy`: its index; -1: not a policy. Sets `stepped` if there was work.
  absl::Status StepBackend(Backend* backend, int policy, bool& stepped);
  // Delivers the results of slow checks; with `wait`, waits for at least one.
  absl::Status TakeChecks(bool wait);
  // True if a step that a length limit ended is a whole segment.
  bool IsSegment(SearchSession& session, const SearchRequest& request,
                 const SampledStep& step) const;
  // Releases a sample's sequence by its handle.
  void ReleaseHandle(int64_t handle);
  void CancelRequests(SearchSession& session);
  // Releases what a search holds in the backends in addition to its nodes.
  void ReleaseRest(SearchSession& session);
  void EndStopped();
  absl::Status FinishDone();
  void ReportProgress();

  RunnerModels models_;
  std::vector<Backend*> policies_;  // the policy and further models that write
  Executor& executor_;
  const int session_limit_;
  const int speculate_;

  std::shared_ptr<const RunnerJob> job_;  // of the current Run
  bool serving_ = false;
  size_t begun_ = 0;  // problems of job_
  std::vector<std::unique_ptr<SearchSession>> sessions_;
  RequestId next_request_ = 1;
  absl::flat_hash_map<RequestId, PendingRequest> pending_;
  BackgroundChecks checks_;
  RewardReaderStats reward_stats_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_RUNNER_H_
