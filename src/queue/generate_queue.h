// A worker of a run that many machines share: searches what it claims from a
// queue until the run is over.
//
//   ESP_ASSIGN_OR_RETURN(JoinedRun joined,
//                        JoinRun({.url = url}, describe, set, n));
//   ESP_ASSIGN_OR_RETURN(GenerateTotals totals, GenerateFromQueue(
//       *engine, *joined.worker, set, options, hooks));
#ifndef ESPALIER_SRC_QUEUE_GENERATE_QUEUE_H_
#define ESPALIER_SRC_QUEUE_GENERATE_QUEUE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "src/engine/generate.h"
#include "src/queue/queue_worker.h"
#include "src/queue/work_queue.h"

namespace espalier {

struct JoinedRun {
  std::unique_ptr<QueueWorker> worker;
  std::string queue;  // name of the database
  int64_t run = 0;
  bool added = false;  // by this call
};

// A worker of the run that `describe` gives (`options.run` is not read); the
// run is added if the queue has none with its settings. `describe` gets the
// runs that are there and may take what they measured. Of programs that start
// at once, one describes and adds the run first, and the others wait for it,
// until `options.stop` is set (Cancelled). FailedPrecondition: the run was
// begun with other problems.
//
// While the database is away everything is tried again, for as long as
// `options.patience`; `options.away` is told each other reason.
absl::StatusOr<JoinedRun> JoinRun(
    QueueWorkerOptions options,
    const std::function<absl::StatusOr<RunInfo>(const std::vector<QueueRun>&)>&
        describe,
    const ProblemSet& set, int searches);

// `totals.searches` and the counts are of this worker, except `left` of the
// worker's own counts. Searches that another worker took over are not counted.
absl::StatusOr<GenerateTotals> GenerateFromQueue(Engine& engine,
                                                 QueueWorker& worker,
                                                 const ProblemSet& set,
                                                 const GenerateOptions& options,
                                                 const GenerateHooks& hooks);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_GENERATE_QUEUE_H_
