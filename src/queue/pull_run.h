// Writes a run of a queue into a run database, as one program would have
// recorded it.
//
//   ESP_RETURN_IF_ERROR(PullRun(queue, run, *db).status());
#ifndef ESPALIER_SRC_QUEUE_PULL_RUN_H_
#define ESPALIER_SRC_QUEUE_PULL_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/queue/work_queue.h"
#include "src/trace/run_db.h"

namespace espalier {

struct PullReport {
  int64_t problems = 0;
  int64_t searches = 0;
  int64_t ended = 0;  // of searches
  // What is damaged in the queue, by search, as text: trees and logs that are
  // not as they were uploaded, and what cannot be read. An ended search is then
  // written as if it had not begun, any other without those responses.
  std::vector<std::string> damaged;
};

// `out`: without this run. Searches that have not ended are written with their
// responses, so that a single program can resume the run.
absl::StatusOr<PullReport> PullRun(WorkQueue& queue, const QueueRun& run,
                                   RunDb& out);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_PULL_RUN_H_
