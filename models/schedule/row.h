// What is in flight in a backend: requests, and their rows in its batches.
#ifndef ESPALIER_MODELS_SCHEDULE_ROW_H_
#define ESPALIER_MODELS_SCHEDULE_ROW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/backend/backend.h"
#include "models/schedule/draft_source.h"
#include "models/schedule/prefix_tree.h"
#include "models/schedule/stop_matcher.h"

namespace espalier {

enum class JobKind : uint8_t { kGenerate, kScore, kTextScore };
enum class JobState : uint8_t {
  kWaiting,    // for the hidden rows of its sequences; no rows exist
  kRunning,    // its rows exist; `from` is complete and locked
  kPreempted,  // lost its pages to older requests, until one of them ends
  kResumed,    // its rows exist; `from` may have to be computed again
};

// A request in flight.
struct Job {
  RequestId id = 0;
  JobKind kind = JobKind::kGenerate;
  JobState state = JobState::kWaiting;
  GenerateRequest generation;               // kGenerate
  std::vector<std::vector<int32_t>> texts;  // kTextScore: one per row
  bool keep_texts = false;                  // their sequences are results
  ScoreRead read = ScoreRead::kRewards;     // kScore
  std::vector<int32_t> read_tokens;         // kScore of kLogprobs
  std::vector<SeqId> sequences;  // held; their last hidden rows are needed. One
                                 // (`from`), except for kScore
  int unfinished = 0;            // continuations or texts
  int rows = 0;                  // in flight
  absl::Status failure;
  Completion completion;

  SeqId from() const { return sequences[0]; }
};

// One sample of a request.
struct Member {
  int index = 0;  // within the request
  StreamKey key;
};

// Samples of one request that have been identical so far, or one given text:
// one row of the forward pass until they differ.
// Its StepTokens are those drawn so far, or all of a given text's.
struct Row : StepTokens {
  Job* job = nullptr;
  std::vector<Member> members;  // one for a given text
  PageTable table;              // empty: not yet forked from `from`
  std::vector<bool> greedy;     // given texts only
  StopMatcher stop;
  std::vector<int32_t> seen;  // distinct tokens of path and output, sorted;
                              // only with a repetition penalty
  double entropy_sum = 0;     // over its tokens
  int ever_resident = 0;      // highest table.resident so far
  std::vector<std::unique_ptr<Row>> forks;  // split off in this step
  DraftSource::Context context;             // with drafts: its text
  std::vector<int32_t> ahead;  // of this step: its last token, then guesses of
                               // the next ones; empty: nothing is guessed
  std::vector<float> last_hidden;  // at its last token, if that was a guess
  bool finished = false;
  Finish finish = Finish::kLength;

  // Tokens whose keys and values its next output depends on.
  int forwarded() const {
    return static_cast<int>(tokens.size()) -
           (job->kind == JobKind::kTextScore ? 1 : 0);
  }
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_ROW_H_
