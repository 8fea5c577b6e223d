// Writes a run of a queue into a run database, as one program would have
// recorded it.
//
//   ESP_RETURN_IF_ERROR(PullRun(queue, run, *db).status());
#ifndef ESPALIER_SRC_QUEUE_PULL_RUN_H_
#define ESPALIER_SRC_QUEUE_PULL_RUN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "src/queue/work_queue.h"
#include "src/trace/run_db.h"

namespace espalier {

struct PullReport {
  int64_t problems = 0;
  int64_t searches = 0;
  int64_t ended = 0;  // of searches
};

// `out`: without this run. Searches that have not ended are written with their
// responses, so that a single program can resume the run.
absl::StatusOr<PullReport> PullRun(WorkQueue& queue, const QueueRun& run,
                                   RunDb& out);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_PULL_RUN_H_
