// Runs a recorded search again from its log, without a model: the same
// coroutine, given the same completions in the same order, grows the same tree.
//
//   ESP_ASSIGN_OR_RETURN(StoredTree again, Replay(problem, task, algorithm,
//                                                 options, log));
//   FirstDifference(again, stored);  // "" unless something is wrong
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_REPLAY_H_
#define ESPALIER_SRC_TRACE_REPLAY_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/search_options.h"
#include "espalier/task.h"
#include "search/algorithm.h"
#include "search/stop.h"
#include "src/trace/stored_tree.h"

namespace espalier {

// `verdicts`: what the recorded reward model could write about a step, if it
// wrote its verdicts. DataLoss if a request of the search has no completion in
// the log, or that of another request.
absl::StatusOr<StoredTree> Replay(const Problem& problem, const Task& task,
                                  const SearchAlgorithm& algorithm,
                                  const SearchOptions& options,
                                  absl::Span<const LogEntry> log,
                                  const VerdictCost& verdicts = {});

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_REPLAY_H_
