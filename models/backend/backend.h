// One model as the engine sees it: a prefix tree of token sequences, requests
// that extend and score them, and a step loop that serves all requests at once.
//
//   SeqId prompt = backend.Extend(kEmptySeq, prompt_tokens);
//   backend.Submit({.id = 1, .body = GenerateRequest{.from = prompt, .n = 4}});
//   std::vector<Completion> done;
//   while (done.empty()) backend.Step(done);
//
// Every backend guarantees:
//  * the result of a request depends only on the request and its sequence, not
//    on what else is in flight or on the number of threads;
//  * sample i of a request draws token t with RandomStream::UniformAt(
//    SampleKey(stream, i), t), so requesting n samples at once or one by one
//    gives the same texts;
//  * Extend(s, t) twice returns the same SeqId until the first is released, so
//    equal prompts are stored once;
//  * an invalid request fails without affecting others, with a status that
//    names the bad value.
//
// Externally synchronised: one thread at a time calls a backend.
#ifndef ESPALIER_MODELS_BACKEND_BACKEND_H_
#define ESPALIER_MODELS_BACKEND_BACKEND_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "base/step_tokens.h"
#include "espalier/scores.h"

namespace espalier {

// A sequence held by a backend: a node of its prefix tree. Reference counted:
// Extend and every Continuation return one reference, Release gives it back. A
// released sequence stays stored while it has live descendants.
using SeqId = int32_t;
inline constexpr SeqId kEmptySeq = 0;
using RequestId = uint64_t;

struct SamplingOptions {
  float temperature = 1;  // 0: greedy, the lowest id wins ties
  int top_k = 0;          // 0: off
  float top_p = 1;        // 1: off
  float min_p = 0;        // 0: off; relative to the most likely token
  // The logit of a token that occurs in the prompt or the output is divided by
  // this if positive, else multiplied (CTRL, Keskar et al. 2019, as in Hugging
  // Face).
  float repetition_penalty = 1;  // 1: off
};

// A continuation ends after the token whose bytes complete `delimiter` (empty:
// never) or a stop string, after the end-of-text token, or at max_tokens,
// whichever is first. A stop string or delimiter may span several tokens. Bytes
// before the continuation do not count.
struct StopRule {
  std::string delimiter = "\n";
  int max_tokens = 256;
  std::vector<std::string> stop_strings = {};
};

enum class Finish : uint8_t {
  kDelimiter,  // the step is complete
  kEnd,        // the model ended the text (end token included in tokens)
  kLength,     // cut at max_tokens or at the model's context length
  kStop,       // a stop string is complete; see Continuation::text_bytes
};

// A token of a continuation in progress.
struct DrawnToken {
  int sample = 0;  // index among the request's continuations
  int32_t token = 0;
  float logprob = 0;  // ln p at temperature 1, no filter
};

// n continuations of `from`.
struct GenerateRequest {
  SeqId from = kEmptySeq;
  int n = 1;
  SamplingOptions sampling;
  StopRule stop;
  StreamKey stream;
  int first_sample = 0;  // sample i of this request draws as first_sample + i
  int top_alternatives = 0;  // report the k most likely per token
  // k > 0: fills Continuation::entropies and ::confidences, the latter from the
  // k most likely tokens at each position.
  int top_logprobs = 0;
  bool hidden = false;  // fill Continuation::hidden
  // Called with each token as it is drawn, on the stepping thread. May be
  // empty.
  std::function<void(const DrawnToken&)> on_token = {};
};

// What a ScoreRequest reads at the last token of each sequence.
enum class ScoreRead : uint8_t {
  kRewards,   // the scores of Espalier's reward head
  kHidden,    // the trunk's output after its final norm, for another head
  kLogprobs,  // ln p of given tokens as the next one, at temperature 1
  kOutputs,   // what a server's own head gives
};

// Scores sequences by what the model computes at the last token of each.
struct ScoreRequest {
  std::vector<SeqId> sequences;
  ScoreRead read = ScoreRead::kRewards;
  std::vector<int32_t> tokens = {};  // kLogprobs: of these, at least one
};

// Log-probs of given texts, each a continuation of `from`.
struct TextScoreRequest {
  SeqId from = kEmptySeq;
  std::vector<std::vector<int32_t>> continuations;
  bool keep = false;  // fill TextScore::seq
};

struct Request {
  RequestId id = 0;
  std::variant<GenerateRequest, ScoreRequest, TextScoreRequest> body;
};

// The new tokens only, at least one. `entropies` and `confidences` are filled
// with top_logprobs, `alternatives` and `hidden` if requested.
struct Continuation : StepTokens {
  SeqId seq = kEmptySeq;  // the extended sequence; caller releases
  Finish finish = Finish::kDelimiter;
  // Bytes of the tokens that belong to the text: all, except for kStop, where
  // the text ends before the stop string.
  size_t text_bytes = 0;
};

// Scores of one given text.
struct TextScore {
  std::vector<float> logprobs;  // ln p of each token at temperature 1
  std::vector<bool> greedy;  // is the greedy choice: highest, ties by lowest id
  SeqId seq = kEmptySeq;     // the extended sequence if kept; caller releases
};

struct Completion {
  RequestId id = 0;
  absl::Status status;                      // per request; others continue
  std::vector<Continuation> continuations;  // GenerateRequest: n, in order
  std::vector<StepScores> scores;           // ScoreRequest: one per sequence
  // ScoreRequest of kHidden, kLogprobs or kOutputs: [sequences], each
  // [hidden_size], [tokens] or [outputs], fp32.
  std::vector<std::vector<float>> rows = {};
  std::vector<TextScore> texts = {};  // TextScoreRequest: one per text
};

struct Capabilities {
  bool reward = false;        // ScoreRequest of kRewards
  int context_length = 0;     // tokens, prompt included
  bool score_text = false;    // TextScoreRequest
  bool top_logprobs = false;  // GenerateRequest: both top_* fields
  int hidden_size = 0;        // ScoreRequest of kHidden; 0: not available
  bool logits = false;        // ScoreRequest of kLogprobs
  int outputs = 0;            // ScoreRequest of kOutputs; 0: not available
  // What a ScoreRequest of kRewards gives, and the model's own combination.
  LevelSet levels = {};
  LevelWeights level_weights = {};
};

// Priority of a sequence that is no longer needed: its pages are freed at once.
inline constexpr float kEvictNow = -std::numeric_limits<float>::infinity();
inline constexpr float kNoRetention = std::numeric_limits<float>::infinity();

// Work done since construction. With nothing shared or evicted each needed
// token is computed once, and so is each guessed token that was not drawn:
//   tokens_computed = tokens_needed - tokens_shared + tokens_recomputed +
//                     tokens_drafted - drafts_accepted.
struct BackendStats {
  int64_t tokens_computed = 0;    // token positions run through the trunk
  int64_t tokens_needed = 0;      // each prompt's once, each sample's once
  int64_t tokens_shared = 0;      // of needed: samples still identical
  int64_t tokens_generated = 0;   // tokens sampled, kept or dropped
  int64_t tokens_recomputed = 0;  // of computed: evicted before
  int64_t tokens_drafted = 0;     // guessed ahead and run (draft_source.h)
  int64_t drafts_accepted = 0;    // of those: were then drawn
  int64_t steps = 0;              // batches run
  int64_t rows = 0;               // decode rows and prefill chunks, summed
};

// The key of the stream that sample `i` of a request draws from.
inline StreamKey SampleKey(StreamKey stream, int i) {
  stream.lo = MixHash(stream.lo, static_cast<uint64_t>(i));
  return stream;
}

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Capabilities& capabilities() const = 0;
  virtual const BackendStats& stats() const = 0;

  // The sequence `parent` followed by `tokens`. Computes nothing yet.
  virtual SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) = 0;
  virtual void Release(SeqId seq) = 0;
  // Retention priority of `seq`: when memory runs short, the sequences of
  // lowest priority lose their keys and values first. Sequences without a
  // priority are evicted after all that have one, least recently used first.
  // kEvictNow: evicted at once, until a request needs it again.
  virtual void SetRetention(SeqId /*seq*/, float /*priority*/) {}

  virtual void Submit(Request request) = 0;
  // Runs one batch over all requests in flight and appends what finished.
  // Returns false if nothing was in flight.
  virtual bool Step(std::vector<Completion>& done) = 0;
  // Drops a request; its completion never comes. Unknown ids are ignored.
  virtual void Cancel(RequestId id) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_BACKEND_BACKEND_H_
