// What is in flight in a backend: requests, and their rows in its batches.
#ifndef ESPALIER_MODELS_SCHEDULE_ROW_H_
#define ESPALIER_MODELS_SCHEDULE_ROW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/backend/backend.h"
#include "models/schedule/prefix_tree.h"
#include "models/schedule/stop_matcher.h"

namespace espalier {

enum class JobKind : uint8_t { kGenerate, kScore, kTextScore };

// A request in flight.
struct Job {
  RequestId id = 0;
  JobKind kind = JobKind::kGenerate;
  GenerateRequest generation;               // kGenerate
  std::vector<std::vector<int32_t>> texts;  // kTextScore: one per row
  ScoreRead read = ScoreRead::kRewards;     // kScore
  std::vector<int32_t> read_tokens;         // kScore of logits
  std::vector<SeqId> sequences;  // held; their last hidden rows are needed. One
                                 // (`from`), except for kScore
  bool started = false;          // its rows exist
  bool locked = false;           // `from` is complete and locked
  // Lost its pages to older requests; resumes when one of them ends.
  bool preempted = false;
  int unfinished = 0;  // continuations or texts
  int rows = 0;        // in flight
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
struct Row {
  Job* job = nullptr;
  std::vector<Member> members;  // one for a given text
  PageTable table;              // empty: not yet forked from `from`
  std::vector<int32_t> tokens;  // of a given text: all of them
  std::vector<float> logprobs;
  std::vector<float> sampler_logprobs;
  std::vector<std::vector<TokenLogprob>> alternatives;
  std::vector<float> entropies;    // with top_logprobs
  std::vector<float> confidences;  // with top_logprobs
  std::vector<float> hidden;       // of the last token, if requested
  std::vector<bool> greedy;        // given texts only
  StopMatcher stop;
  std::vector<int32_t> seen;  // distinct tokens of path and output, sorted;
                              // only with a repetition penalty
  double entropy = 0;         // summed over its tokens
  int ever_resident = 0;      // highest table.resident so far
  std::vector<std::unique_ptr<Row>> forks;  // split off in this step
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
