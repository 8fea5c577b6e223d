// How far the runs of a queue have got, and who works on them.
#ifndef ESPALIER_SRC_QUEUE_QUEUE_STATUS_H_
#define ESPALIER_SRC_QUEUE_QUEUE_STATUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/queue/work_queue.h"

namespace espalier {

struct QueueWorkerStatus {
  int64_t worker = 0;
  std::string host;
  int64_t pid = 0;
  std::string state;  // working, left, or lost: not heard of for its lease
  int64_t held = 0;   // searches
  int64_t done = 0;
  int64_t tokens = 0;         // of done
  double seconds = 0;         // from its start to when it was last heard of
  double seconds_silent = 0;  // since it was last heard of
  double searches_per_hour = 0;
  double tokens_per_second = 0;
};

struct QueueRunStatus {
  QueueRun run;
  int64_t waiting = 0;
  int64_t running = 0;
  int64_t done = 0;
  int64_t failed = 0;
  int64_t graded = 0;     // of done
  int64_t solved = 0;     // of graded
  int64_t continued = 0;  // times that a worker continued another's search
  int64_t tokens = 0;
  // Of the last five minutes, or of the last 20 searches if they took longer.
  double searches_per_hour = 0;
  double seconds_left = -1;  // -1: not known
  std::vector<QueueWorkerStatus> workers;
};

// Of the run of that number, or of all (0).
absl::StatusOr<std::vector<QueueRunStatus>> QueueStatus(WorkQueue& queue,
                                                        int64_t run);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_QUEUE_STATUS_H_
