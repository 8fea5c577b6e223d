// generate --queue: a worker of a run that many machines share.
#ifndef ESPALIER_TOOLS_ESPALIER_QUEUE_WORKER_H_
#define ESPALIER_TOOLS_ESPALIER_QUEUE_WORKER_H_

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "src/engine/generate.h"
#include "tools/espalier/output_file.h"

namespace espalier {

struct QueueFlags {
  std::string url;
  double lease = 60;      // seconds
  double patience = 600;  // seconds
};

void AddQueueFlags(CLI::App& app, QueueFlags& flags);

// InvalidArgument, which names the flag.
absl::Status CheckQueueUrl(const std::string& url);

// Joins the run that `describe` gives, which gets the runs of the queue, and
// works until it is over.
absl::Status RunQueueWorker(
    const QueueFlags& flags, const JsonOutput& json, Engine& engine,
    const ProblemSet& set, const GenerateOptions& options,
    const std::function<absl::StatusOr<RunInfo>(const std::vector<RunRow>&)>&
        describe);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_QUEUE_WORKER_H_
