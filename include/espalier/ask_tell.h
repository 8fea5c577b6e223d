// A search whose requests the calling program answers, for programs that keep
// their own loop. It loads no model and starts no thread.
//
//   auto search = AskTell::Create(problem, task, {.method = "ab_mcts_a",
//                                                 .max_tokens = 4000}).value();
//   while (!search->done()) {
//     for (const SearchQuestion& question : search->Ask()) {
//       status = search->Tell(question.id, MyAnswer(question));
//     }
//   }
//   SearchResult result = search->Result();
//
// Questions may be answered in any order and at any later time: the tree
// depends only on the answers. A method may have several questions open at a
// time; answer them together, for example as one batch.
//
// Externally synchronised.
#ifndef ESPALIER_API_ASK_TELL_H_
#define ESPALIER_API_ASK_TELL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/problem.h"
#include "espalier/scores.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"

namespace espalier {

enum class QuestionKind : uint8_t {
  kSample,  // continue a response by one step, `n` times
  kScore,   // judge the last step of each response
  kVerify,  // is this finished response right, judged only by the question?
};

// How to continue a response by one step.
struct SampleRequest {
  int n = 1;              // samples wanted
  float temperature = 1;  // 0: greedy
  int top_k = 0;          // only the k most likely tokens; 0: all
  float top_p = 1;        // only the most likely tokens of this mass; 1: all
  float min_p = 0;        // only tokens this likely relative to the top; 0: all
  // Maximum per sample. An answer with more tokens fails the search; an answer
  // that gives no tokens is cut after this many words (SampledText::tokens).
  int max_tokens = 0;
  // Texts that end the response and are no part of it.
  std::vector<std::string> stop_strings = {};
  // One per sample: the same search asks with the same seeds, and two samples
  // of one response have different seeds.
  std::vector<uint64_t> seeds = {};
};

struct SearchQuestion {
  uint64_t id = 0;
  QuestionKind kind = QuestionKind::kSample;
  // Texts after the prompt. kSample and kVerify: one.
  std::vector<std::string> responses = {};
  SampleRequest sample = {};  // of kSample
};

// One step that continues a response: up to and including the delimiter of
// Task::format(), or to the end of the response.
struct SampledText {
  std::string text = {};
  // The step's tokens, at most `max_tokens`. If empty, every word with the
  // white space before it counts as one token, and a text that goes on after
  // the delimiter or after `max_tokens` words is cut there.
  std::vector<int32_t> tokens = {};
  // ln p of each token at temperature 1; empty: unknown, taken as 0.
  std::vector<float> logprobs = {};
  bool ended = false;      // the response ends here
  bool truncated = false;  // cut by max_tokens inside the step
};

struct SearchAnswer {
  absl::Status status;                    // not OK: the search fails with it
  std::vector<SampledText> samples = {};  // kSample: 1 to n
  std::vector<StepScores> scores = {};    // kScore: one per response
  bool correct = false;                   // kVerify
};

class AskTell {
 public:
  // `task` outlives the search. "auto" assumes a reward model. The search reads
  // no clock: SearchOptions::max_seconds is for the caller to watch (Stop).
  // InvalidArgument lists all that is wrong with the options.
  static absl::StatusOr<std::unique_ptr<AskTell>> Create(
      const Problem& problem, const Task& task, const SearchOptions& options);
  virtual ~AskTell() = default;

  // The new questions since the last call, in order of issue.
  virtual std::vector<SearchQuestion> Ask() = 0;
  // InvalidArgument for an answer that does not fit its question, NotFound for
  // an id that is not open; both leave the search as it was.
  virtual absl::Status Tell(uint64_t id, SearchAnswer answer) = 0;
  // Ends the search with the best answer so far; open questions are dropped.
  virtual void Stop(const std::string& reason) = 0;
  virtual bool done() const = 0;
  // May be read at any time.
  virtual SearchResult Result() const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_ASK_TELL_H_
