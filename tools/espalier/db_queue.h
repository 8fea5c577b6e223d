// espalier db pull and db status: a queue's runs.
#ifndef ESPALIER_TOOLS_ESPALIER_DB_QUEUE_H_
#define ESPALIER_TOOLS_ESPALIER_DB_QUEUE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/espalier/output_file.h"

namespace espalier {

// Writes a run of the queue into the run database `out`; `run` 0: the only one.
absl::Status PullFromQueue(const std::string& url, int64_t run,
                           const std::string& out, const JsonOutput& json);

// Prints how far runs have got; `run` 0: of all.
absl::Status PrintQueueStatus(const std::string& url, int64_t run,
                              const JsonOutput& json);

// Deletes a run from the queue.
absl::Status DropFromQueue(const std::string& url, int64_t run);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_DB_QUEUE_H_
