// What is under way in a backend: requests, and the rows that they have in its
// batches.
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

// A request under way.
struct Job {
  RequestId id = 0;
  JobKind kind = JobKind::kGenerate;
  GenerateRequest generation;               // kGenerate
  std::vector<std::vector<int32_t>> texts;  // kTextScore: of each row
  std::vector<SeqId> sequences;  // whose last hidden row is needed; held. Of
                                 // other kinds than kScore one: `from`
  bool started = false;          // its rows exist
  bool locked = false;           // `from` is whole and locked
  // Gave up its pages to older requests; goes on when one of them has ended.
  bool preempted = false;
  int unfinished = 0;  // continuations or texts
  int rows = 0;        // under way
  absl::Status failure;
  Completion completion;

  SeqId from() const { return sequences[0]; }
};

// One sample of a request.
struct Member {
  int index = 0;  // within the request
  StreamKey key;
};

// Samples of one request that agree so far, or one given text: one row of the
// forward pass until they differ.
struct Row {
  Job* job = nullptr;
  std::vector<Member> members;  // of a given text one
  PageTable table;              // empty: its fork of `from` is still to come
  std::vector<int32_t> tokens;  // of a given text all
  std::vector<float> logprobs;
  std::vector<float> sampler_logprobs;
  std::vector<std::vector<TokenLogprob>> alternatives;
  std::vector<float> entropies;    // with top_logprobs
  std::vector<float> confidences;  // likewise
  std::vector<float> hidden;       // of the last token, if asked for
  std::vector<bool> greedy;        // of a given text
  StopMatcher stop;
  std::vector<int32_t> seen;  // distinct tokens of path and output, sorted;
                              // with a repetition penalty alone
  double entropy = 0;         // of its tokens, summed
  int ever_resident = 0;      // highest table.resident so far
  std::vector<std::unique_ptr<Row>> forks;  // from it, in this step
  bool finished = false;
  Finish finish = Finish::kLength;

  // Tokens whose keys and values its next output needs.
  int forwarded() const {
    return static_cast<int>(tokens.size()) -
           (job->kind == JobKind::kTextScore ? 1 : 0);
  }
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_ROW_H_
