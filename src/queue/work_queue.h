// A durable queue of searches in PostgreSQL, which workers on many machines
// share.
//
// A worker claims searches, for as long as its lease lasts and is renewed, and
// uploads every response while a search runs. The searches of a worker that is
// gone are claimed by others, who continue them from their responses. Each
// claim has a number, and nothing is written under a number that is no longer
// the search's: of two workers that believe to hold a search, one can finish
// it.
//
// Thread-compatible.
#ifndef ESPALIER_SRC_QUEUE_WORK_QUEUE_H_
#define ESPALIER_SRC_QUEUE_WORK_QUEUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"
#include "src/queue/postgres.h"
#include "src/trace/run_db.h"
#include "src/trace/search_store.h"

namespace espalier {

struct QueueRun {
  RunRow row;
  std::string set_hash;
  int64_t problems = 0;
  int64_t searches = 0;  // per problem
};

// A search that this worker holds.
struct ClaimedSearch {
  int64_t claim = 0;
  int64_t search = 0;   // its number in the run
  int64_t problem = 0;  // its number in the set
  uint64_t seed = 0;
  std::vector<std::string> responses;  // recorded by earlier workers, encoded
};

// What a worker sends.
struct QueueWrite {
  int64_t claim = 0;
  int64_t search = 0;
  // A response, or the end of the search.
  uint64_t number = 0;
  std::string entry;
  std::optional<FinishedSearch> finished;
};

struct HeldSearch {
  int64_t claim = 0;
  int64_t search = 0;
};

struct QueueExchange {
  int64_t run = 0;
  int64_t worker = 0;
  double lease = 60;  // seconds
  std::vector<const QueueWrite*> writes;
  bool renew = false;            // the leases of all that is held
  std::vector<HeldSearch> held;  // before the writes
  int64_t want = 0;              // searches at most
  // How many searches are left and workers at work, as last heard; `count`
  // counts them again, as does a claim that finds nothing.
  bool count = false;
  int64_t left = 0;
  int64_t workers = 1;
  std::optional<uint64_t> seed;  // of those
  bool blame = false;  // it leaves because one of its searches cannot be run
  bool leave = false;  // what is still held is free for others
};

struct QueueReply {
  std::vector<int64_t> lost;  // claims that another worker has taken over
  std::vector<ClaimedSearch> claimed;
  bool counted = false;
  int64_t left = 0;     // searches that have not ended; if counted
  int64_t workers = 0;  // that were seen lately, this one among them
};

// Identifies the problems of a set, in order.
std::string HashProblems(const ProblemSet& set);

class WorkQueue {
 public:
  // `create`: makes the tables if there are none. Errors: CheckQueue.
  static absl::StatusOr<std::unique_ptr<WorkQueue>> Open(const std::string& url,
                                                         bool create);

  // While it is held no other program adds a run. False: another holds it.
  absl::StatusOr<bool> TryLockRuns();
  absl::Status UnlockRuns();
  absl::StatusOr<std::vector<QueueRun>> Runs();
  // `searches`: per problem.
  absl::StatusOr<int64_t> AddRun(const RunInfo& info, const ProblemSet& set,
                                 int searches);
  // Drops a run with its searches, trees and workers. FailedPrecondition if
  // there are workers at work.
  absl::Status DropRun(int64_t run);

  absl::StatusOr<int64_t> AddWorker(int64_t run, double lease);
  // All of it or, after an error, nothing. After an error that may pass, and
  // of which nobody knows whether it was carried out, the same may be sent
  // again.
  absl::StatusOr<QueueReply> Exchange(const QueueExchange& exchange);

  Postgres& db() { return *db_; }

 private:
  explicit WorkQueue(std::unique_ptr<Postgres> db) : db_(std::move(db)) {}

  std::unique_ptr<Postgres> db_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_WORK_QUEUE_H_
