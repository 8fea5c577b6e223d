#include "src/queue/generate_queue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "src/engine/prompted_task.h"
#include "src/engine/search_round.h"
#include "src/trace/run_recorder.h"
#include "src/trace/stored_tree.h"

namespace espalier {
namespace {

// Records the searches of one round that the worker claims.
class QueueRecorder : public SearchRecorder {
 public:
  QueueRecorder(QueueWorker& worker, uint64_t seed, RunRecorder::Grade grade)
      : worker_(worker), seed_(seed), recorder_(worker, std::move(grade)) {}

  absl::StatusOr<std::optional<size_t>> Claim(size_t /*begun*/, size_t all,
                                              size_t room) override {
    if (!next_) next_ = worker_.Take(seed_, room);
    if (!next_) return std::nullopt;
    const auto index = static_cast<size_t>(next_->problem);
    // Lost a moment ago, and taken back before the engine has noticed.
    if (claims_.contains(index)) return std::nullopt;
    if (index >= all) {
      return absl::DataLossError(absl::StrCat(
          "the queue holds a search of problem ", index, ", of ", all));
    }
    // What is damaged is asked for again.
    std::erase_if(next_->responses, [](const std::string& entry) {
      return !DecodeEntry(entry).ok();
    });
    ESP_RETURN_IF_ERROR(recorder_.Begin(index, next_->claim, next_->responses));
    claims_[index] = next_->claim;
    next_.reset();
    return index;
  }

  bool Lost(size_t index) override {
    const auto claim = claims_.find(index);
    if (claim == claims_.end() || !worker_.Lost(claim->second)) return false;
    Leave(index);
    return true;
  }

  absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t index, const SearchRequest& request) override {
    return recorder_.Recall(index, request);
  }
  absl::Status Append(size_t index, const SearchRequest& request,
                      const SearchCompletion& completion) override {
    return recorder_.Append(index, request, completion);
  }
  void Stop(size_t index, uint64_t number, std::string_view reason) override {
    recorder_.Stop(index, number, reason);
  }
  absl::Status Finish(size_t index, const Tree& tree,
                      const SearchResult& result) override {
    return recorder_.Finish(index, tree, result);
  }
  absl::Status Flush() override { return recorder_.Flush(); }

  // The verdict on a search that has ended, which is then forgotten.
  std::optional<bool> TakeVerdict(size_t index) {
    const std::optional<bool> correct = recorder_.correct(index);
    Leave(index);
    return correct;
  }

 private:
  void Leave(size_t index) {
    recorder_.Leave(index);
    claims_.erase(index);
  }

  QueueWorker& worker_;
  const uint64_t seed_;
  RunRecorder recorder_;
  std::optional<ClaimedSearch> next_;  // taken, and not begun yet
  std::map<size_t, int64_t> claims_;   // of searches under way
};

using DescribeFunction =
    std::function<absl::StatusOr<RunInfo>(const std::vector<QueueRun>&)>;

// False once `stop` is set.
bool PauseUnlessStopped(const std::atomic<bool>* stop, double seconds) {
  const Clock& clock = Clock::Real();
  const double until = clock.Seconds() + seconds;
  Mutex mutex;
  CondVar pause;
  MutexLock lock(mutex);
  for (;;) {
    if (stop != nullptr && stop->load()) return false;
    const double left = until - clock.Seconds();
    if (left <= 0) return true;
    pause.WaitFor(mutex, std::min(left, 0.1));
  }
}

absl::Status StoppedEarly() {
  return absl::CancelledError("stopped before a search began");
}

absl::StatusOr<JoinedRun> TryToJoin(const QueueWorkerOptions& options,
                                    const DescribeFunction& describe,
                                    const ProblemSet& set, int searches) {
  ESP_ASSIGN_OR_RETURN(auto queue,
                       WorkQueue::Open(options.url, /*create=*/true));
  JoinedRun joined{.queue = queue->db().name()};
  for (;;) {
    ESP_ASSIGN_OR_RETURN(const bool locked, queue->TryLockRuns());
    if (locked) break;
    if (!PauseUnlessStopped(options.stop, 0.1)) return StoppedEarly();
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<QueueRun> runs, queue->Runs());
  ESP_ASSIGN_OR_RETURN(const RunInfo info, describe(runs));
  for (const QueueRun& run : runs) {
    if (run.row.config_hash != ConfigHash(info)) continue;
    if (run.set_hash != HashProblems(set)) {
      return absl::FailedPreconditionError(
          absl::StrCat(joined.queue, ": run ", run.row.run_id,
                       " with these settings was begun with other problems (",
                       run.problems, "; here are ", set.problems.size(),
                       "); give every worker the same set"));
    }
    joined.run = run.row.run_id;
  }
  if (joined.run == 0) {
    ESP_ASSIGN_OR_RETURN(joined.run, queue->AddRun(info, set, searches));
    joined.added = true;
  }
  ESP_RETURN_IF_ERROR(queue->UnlockRuns());
  QueueWorkerOptions with_run = options;
  with_run.run = joined.run;
  ESP_ASSIGN_OR_RETURN(
      joined.worker, QueueWorker::Start(std::move(queue), std::move(with_run)));
  return joined;
}

}  // namespace

absl::StatusOr<JoinedRun> JoinRun(QueueWorkerOptions options,
                                  const DescribeFunction& describe,
                                  const ProblemSet& set, int searches) {
  double pause = 0, away_since = -1;
  absl::Status last;
  const auto describe_connected = [&](const std::vector<QueueRun>& runs) {
    pause = 0;
    away_since = -1;
    return describe(runs);
  };
  for (;;) {
    absl::StatusOr<JoinedRun> joined =
        TryToJoin(options, describe_connected, set, searches);
    const absl::Status& error = joined.status();
    // One who is refused at the start has most likely been told a wrong
    // address.
    if (joined.ok() || !IsPassing(error) || !absl::IsUnavailable(error)) {
      return joined;
    }
    const double now = Clock::Real().Seconds();
    if (away_since < 0) away_since = now;
    if (now >= away_since + options.patience) {
      return GivenUp(error, options.patience);
    }
    if (options.away && error.message() != last.message()) options.away(error);
    last = error;
    pause = std::min(std::max(0.1, 2 * pause), kLongestPause);
    if (!PauseUnlessStopped(options.stop, pause)) return StoppedEarly();
  }
}

absl::StatusOr<GenerateTotals> GenerateFromQueue(Engine& engine,
                                                 QueueWorker& worker,
                                                 const ProblemSet& set,
                                                 const GenerateOptions& options,
                                                 const GenerateHooks& hooks) {
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(set.task, options.prompt));
  const Verifier& verifier =
      hooks.verifier != nullptr ? *hooks.verifier : *put.verifier;
  ESP_RETURN_IF_ERROR(verifier.Ready());
  std::vector<const GradedProblem*> problems;
  for (const GradedProblem& graded : set.problems) problems.push_back(&graded);
  SearchRound round(engine, *put.task, verifier, options, std::move(problems));
  GenerateTotals totals;
  totals.searches =
      static_cast<int64_t>(set.problems.size()) * options.searches;
  for (;;) {
    ESP_ASSIGN_OR_RETURN(const bool more, worker.WaitForWork(hooks.stop));
    if (!more) break;
    const std::optional<uint64_t> seed = worker.NextSeed();
    if (!seed) continue;
    QueueRecorder recorder(worker, *seed, round.grade());
    ESP_RETURN_IF_ERROR(round.Run(
        *seed, recorder, hooks.stop, [&](size_t i, const SearchResult& result) {
          AddResult(recorder.TakeVerdict(i), result, totals);
          if (hooks.progress) hooks.progress(totals);
        }));
  }
  totals.stopped = hooks.stop != nullptr && hooks.stop->load();
  return totals;
}

}  // namespace espalier
