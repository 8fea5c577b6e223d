// One model as the engine sees it: a prefix tree of token sequences, requests
// that grow and judge it, and a step loop that serves all of them at once.
//
//   SeqId prompt = backend.Extend(kEmptySeq, prompt_tokens);
//   backend.Submit({.id = 1, .body = GenerateRequest{.from = prompt, .n = 4}});
//   std::vector<Completion> done;
//   while (done.empty()) backend.Step(done);
//
// Guarantees every backend gives:
//  * what a request returns depends on the request and the sequence alone, not
//    on what else is in flight or on the number of threads;
//  * sample i of a request draws token t with RandomStream::UniformAt(
//    SampleKey(stream, i), t), so asking for n samples at once or one by one
//    gives the same texts;
//  * Extend(s, t) twice gives the same SeqId while the first is unreleased,
//    so equal prompts are stored once;
//  * a wrong request fails by itself, with a status that names the value.
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
#include "espalier/scores.h"

namespace espalier {

// A sequence held by a backend: a node of its prefix tree. Reference counted:
// Extend and every Continuation hand out one reference, Release gives it back.
// A released sequence whose descendants live on stays stored.
using SeqId = int32_t;
inline constexpr SeqId kEmptySeq = 0;
using RequestId = uint64_t;

struct SamplingOptions {
  float temperature = 1;  // 0: greedy, the lowest id wins ties
  int top_k = 0;          // 0: off
  float top_p = 1;        // 1: off
  float min_p = 0;        // 0: off; relative to the likeliest token
  // Logits of tokens that the prompt or the output has are divided by it if
  // positive, else multiplied (CTRL, Keskar et al. 2019, as Hugging Face does).
  float repetition_penalty = 1;  // 1: off
};

// A continuation ends after the token whose bytes complete `delimiter` (empty:
// never) or a stop string, after the end-of-text token, or at max_tokens,
// whichever is first. A stop string and a delimiter may begin in one token and
// end in another. Bytes before the continuation do not count.
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

// A token of a continuation under way.
struct DrawnToken {
  int sample = 0;  // place among the request's continuations
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
  int top_alternatives = 0;  // the likeliest so many at each token are told
  // k > 0: Continuation::entropies and ::confidences are told, the latter from
  // the k likeliest at each token.
  int top_logprobs = 0;
  bool hidden = false;  // Continuation::hidden is told
  // Sees each token as it is drawn, on the thread that steps. May be empty.
  std::function<void(const DrawnToken&)> on_token = {};
};

// Scores of the hierarchical reward at the last token of each sequence.
struct ScoreRequest {
  std::vector<SeqId> sequences;
};

// Log-probs of given texts, each a continuation of `from`.
struct TextScoreRequest {
  SeqId from = kEmptySeq;
  std::vector<std::vector<int32_t>> continuations;
};

struct Request {
  RequestId id = 0;
  std::variant<GenerateRequest, ScoreRequest, TextScoreRequest> body;
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // ln p at temperature 1, no filter
};

struct Continuation {
  SeqId seq = kEmptySeq;        // the extended sequence; caller releases
  std::vector<int32_t> tokens;  // new tokens only, at least one
  std::vector<float> logprobs;  // ln p of each at temperature 1, no filter
  std::vector<float> sampler_logprobs;  // ln of the chance it was drawn with
  float entropy = 0;                    // mean over tokens, nats, temperature 1
  // One a token where top_logprobs asks: the entropy; minus the mean ln p of
  // the likeliest so many, or of all there are (temperature 1, no filter).
  std::vector<float> entropies = {};
  std::vector<float> confidences = {};
  // Where asked for, [hidden_size]: the trunk's output, after its last norm,
  // from which the last token was drawn.
  std::vector<float> hidden = {};
  Finish finish = Finish::kDelimiter;
  // Bytes of the tokens that belong to the text: all, but for kStop, where the
  // text ends before the stop string.
  size_t text_bytes = 0;
  // One a token if asked for, the likeliest first, of equals the lowest id.
  std::vector<std::vector<TokenLogprob>> alternatives = {};
};

// One given continuation.
struct TextScore {
  std::vector<float> logprobs;  // ln p of each token at temperature 1
  std::vector<bool> greedy;     // no token was likelier, none of equals lower
};

struct Completion {
  RequestId id = 0;
  absl::Status status;                      // per request; others go on
  std::vector<Continuation> continuations;  // GenerateRequest: n, in order
  std::vector<StepScores> scores;           // ScoreRequest: one a sequence
  std::vector<TextScore> texts = {};        // TextScoreRequest: one a text
};

struct Capabilities {
  bool propose = false;       // GenerateRequest
  bool reward = false;        // ScoreRequest
  int context_length = 0;     // tokens, prompt included
  bool score_text = false;    // TextScoreRequest
  bool top_logprobs = false;  // GenerateRequest: both of top_*
  int hidden_size = 0;        // of Continuation::hidden; 0: it is not told
};

// A sequence that nobody will ask for again: its pages are free at once.
inline constexpr float kEvictNow = -std::numeric_limits<float>::infinity();
inline constexpr float kNoRetention = std::numeric_limits<float>::infinity();

// Work done since construction. With nothing shared or evicted each needed
// token is computed once:
//   tokens_computed = tokens_needed - tokens_shared + tokens_recomputed.
struct BackendStats {
  int64_t tokens_computed = 0;    // token positions run through the trunk
  int64_t tokens_needed = 0;      // each prompt's once, each sample's once
  int64_t tokens_shared = 0;      // of needed: by samples that agree so far
  int64_t tokens_generated = 0;   // tokens sampled, kept or dropped
  int64_t tokens_recomputed = 0;  // of computed: had been evicted before
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
  // How much a search wants the keys and values of `seq` kept: when memory runs
  // short, its sequences of lowest priority lose theirs. Unless set, the last
  // use decides, after all those that have a priority. kEvictNow: at once,
  // until a request asks for it after all.
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
