// A worker's end of a queue: a thread that uploads what searches record, keeps
// their leases and claims new searches, while the engine computes.
//
//   auto worker = QueueWorker::Start(std::move(queue), {.url = url, .run = 7});
//   while ((*worker)->WaitForWork(&stop).value()) {
//     const uint64_t seed = *(*worker)->NextSeed();
//     while (auto claimed = (*worker)->Take(seed, 1)) ...
//   }
//   (*worker)->Leave();
//
// Searches go on while the database is away: what they record waits in memory.
// If another worker has taken a search over meanwhile, it is Lost here.
//
// As a SearchStore, a search is known by its claim. Thread-safe.
#ifndef ESPALIER_SRC_QUEUE_QUEUE_WORKER_H_
#define ESPALIER_SRC_QUEUE_QUEUE_WORKER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "src/queue/work_queue.h"
#include "src/trace/search_store.h"

namespace espalier {

struct QueueWorkerOptions {
  std::string url;
  int64_t run = 0;
  double lease = 60;      // seconds until a dead worker's searches are taken
  double patience = 600;  // seconds that the database may be away
  double pause = 0.2;     // seconds between uploads
  size_t buffer = size_t{256} << 20;        // bytes that may wait for an upload
  const std::atomic<bool>* stop = nullptr;  // nothing waits for the buffer then
  // Told once why the database is away, and once (OK) that it is there again.
  // From the worker's thread. May be null.
  std::function<void(const absl::Status&)> away = nullptr;
};

inline constexpr double kLongestPause = 5;  // seconds between tries to connect

// `error` of a database that was away for all of `patience`.
absl::Status GivenUp(const absl::Status& error, double patience);

struct QueueCounts {
  int64_t left = -1;  // searches of the run that have not ended; -1: not known
  int64_t workers = 1;
  int64_t held = 0;  // by this one
  std::string away;  // why the database is away; "": it is not
};

class QueueWorker : public SearchStore {
 public:
  // `queue`: connected. Registers the worker.
  static absl::StatusOr<std::unique_ptr<QueueWorker>> Start(
      std::unique_ptr<WorkQueue> queue, QueueWorkerOptions options);
  // Without Leave it ends as if it had been killed.
  ~QueueWorker() override;

  // True: there is a search to Take. False: the run is over, or `stop` is set.
  absl::StatusOr<bool> WaitForWork(const std::atomic<bool>* stop);
  // The seed of the search that waits to be taken.
  std::optional<uint64_t> NextSeed() const;
  // A search with this seed; nothing: none now. `room`: how many more can be
  // run, this one included.
  std::optional<ClaimedSearch> Take(uint64_t seed, size_t room);
  // The search is another worker's now. Once true, the claim is forgotten.
  bool Lost(int64_t claim);
  // Uploads what waits, and leaves searches that have not ended to others;
  // with `blame` they count as those that a worker could not run. Gives up
  // after `seconds`.
  absl::Status Leave(double seconds, bool blame = false);

  absl::Status AddResponse(int64_t claim, uint64_t number,
                           std::string_view entry) override;
  absl::Status FinishSearch(int64_t claim,
                            const FinishedSearch& finished) override;
  // Does not wait for the upload; returns the error that ended it, if any.
  absl::Status Commit() override;

  QueueCounts counts() const;

 private:
  struct Held {
    int64_t search = 0;
    bool lost = false;
    bool ended = false;  // its end waits for the upload
  };

  QueueWorker(std::unique_ptr<WorkQueue> queue, QueueWorkerOptions options,
              int64_t worker);
  void Work();
  // Waits for the time or a reason to talk to the database; false: none any
  // more.
  bool NextExchange(QueueExchange& exchange, size_t& writes);
  void TakeReply(QueueReply reply, const QueueExchange& exchange,
                 size_t writes);
  // Waits before the next try; false if patience is at its end.
  bool TakeError(const absl::Status& error);
  absl::Status Reconnect();
  void Push(QueueWrite write, size_t bytes);

  const QueueWorkerOptions options_;
  const int64_t worker_;
  std::unique_ptr<WorkQueue> queue_;  // of the thread; null: not connected
  Postgres::Session session_;         // of the thread: of the last connection

  mutable Mutex mutex_;
  CondVar to_thread_;
  CondVar from_thread_;
  std::deque<QueueWrite> writes_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;                   // of writes_
  std::map<int64_t, Held> held_ ABSL_GUARDED_BY(mutex_);       // by claim
  std::deque<ClaimedSearch> claimed_ ABSL_GUARDED_BY(mutex_);  // not taken yet
  // What the engine asks for.
  size_t want_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> seed_ ABSL_GUARDED_BY(mutex_);
  QueueCounts counts_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // The connection under way, to be interrupted.
  Postgres* connection_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool blame_ ABSL_GUARDED_BY(mutex_) = false;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;  // the thread has done its work
  double leave_until_ ABSL_GUARDED_BY(mutex_) = 0;
  // Times of the real clock.
  double last_upload_ ABSL_GUARDED_BY(mutex_) = 0;
  double began_ ABSL_GUARDED_BY(mutex_) = 0;       // the exchange under way
  double next_count_ ABSL_GUARDED_BY(mutex_) = 0;  // of searches and workers
  double last_renewal_ ABSL_GUARDED_BY(mutex_) = 0;
  double last_claim_ ABSL_GUARDED_BY(mutex_) = 0;  // that found nothing
  double away_since_ ABSL_GUARDED_BY(mutex_) = -1;
  double retry_ ABSL_GUARDED_BY(mutex_) = 0;  // seconds before the next try

  std::thread thread_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_QUEUE_WORKER_H_
