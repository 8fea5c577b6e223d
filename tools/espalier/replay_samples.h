// Recorded responses whose best is chosen anew: of a run database, or JSON
// lines.
//
//   {"id": "q1", "answer": "42", "correct": true, "scores": [0.9, 0.8]}
//
// One line per response, in the order in which they were drawn; lines of one
// question have the same id. "question" and "steps" are needed only if a reward
// model is to score them, and replace "scores" then.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_REPLAY_SAMPLES_H_
#define ESPALIER_TOOLS_ESPALIER_REPLAY_SAMPLES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/scores.h"
#include "src/engine/score_solutions.h"
#include "src/eval/best_of_n.h"

namespace espalier {

struct RecordedSamples {
  std::vector<ReplayProblem> problems;
  // If scores are wanted: the texts of problems[i].samples[k], whose scores are
  // empty.
  std::vector<std::vector<GivenSolution>> texts;
  std::string task;        // of a run database; else ""
  int64_t not_graded = 0;  // responses of a run without a verdict, left out
};

struct SampleSource {
  bool texts = false;  // texts in place of scores
  // Of a run's scores: none is steps. Lines have scores of no named level.
  std::optional<Level> level = {};
  int64_t run = 0;  // 0: all runs of a database
};

// InvalidArgument, which names file and line, for a line without what is
// needed, and for a level or a run of such a file; FailedPrecondition for a run
// whose responses have no scores of the level.
absl::StatusOr<RecordedSamples> ReadSamplesFile(const std::string& path,
                                                const SampleSource& source);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_REPLAY_SAMPLES_H_
