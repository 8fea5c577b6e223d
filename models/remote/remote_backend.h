// A model behind a server, or behind several that offer the same one, as a
// backend: ids go out, ids come back, and the stop rule, the prefix tree and
// the counts are those of a model in this process.
//
//   ESP_ASSIGN_OR_RETURN(RemoteModel model,
//                        ParseRemoteModel("http://localhost:8080#qwen3"));
//   ESP_ASSIGN_OR_RETURN(auto backend, RemoteBackend::Connect(model,
//   *tokenizer,
//                                                             {}));
//
// What differs from a model in this process (models/backend/backend.h):
//  * texts are drawn by the server. It gets a seed made from the request's
//    stream, but promises nothing: run it again and texts may differ. A
//    recorded run is rebuilt from its response log.
//  * `entropies` stay empty, `mean_entropy` is NaN: servers report only the
//    most likely tokens. `sampler_logprobs` are known at temperatures 0 and 1
//    without a filter and empty otherwise.
//  * A log-prob that the server did not tell (of a stop's tokens, or at another
//    temperature) is asked for again, as that of a given token.
//  * No hidden rows, no reward heads.
//  * Of a server that speaks texts (ServerKind::kOpenAi) the text of the path
//    goes out, and what comes back is encoded together with it
//    (text_sample.h); text_stats() counts where that does not give the path's
//    tokens. It scores no texts and lists no likely tokens, and log-probs that
//    it does not tell are 0. Where it does not say whether a text ended or a
//    stop did, a call for the next token tells.
//  * `tokens_computed` is what servers say: of each call the prompt's tokens
//    that were not cached, and all that were drawn (the last of a sample is run
//    with the next call only, and counts there again). A call for n samples
//    counts its prompt once. Where a server does not tell what it had cached
//    (vLLM without --enable-prompt-tokens-details) nothing is taken for cached.
//    `tokens_needed` counts the tokens of each new sequence, of each sample and
//    of each text to score. What was computed a second time is not told apart:
//    `tokens_shared` and `tokens_recomputed` stay 0.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_REMOTE_REMOTE_BACKEND_H_
#define ESPALIER_MODELS_REMOTE_REMOTE_BACKEND_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/backend/backend.h"
#include "models/backend/sequence_tree.h"
#include "models/remote/call_pool.h"
#include "models/remote/dialect.h"
#include "models/remote/endpoint.h"
#include "models/remote/in_flight.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

struct RemoteOptions {
  HttpOptions http;
  CallPoolOptions calls;
  // Seconds that Step waits for an answer if there is none.
  double step_seconds = 0.002;
  // Called by Step, in words, when a server's weights are others than before.
  // May be empty.
  std::function<void(const std::string&)> notice = {};
};

// Of servers that speak texts.
struct TextStats {
  int64_t samples = 0;  // encoded
  int64_t missed = 0;   // of them, after a path with other tokens
};

class RemoteBackend : public Backend {
 public:
  // Probes every server (ProbeServer); all must offer the same model in the
  // same way. `tokenizer` is the model's own and outlives the backend.
  static absl::StatusOr<std::unique_ptr<RemoteBackend>> Connect(
      const RemoteModel& model, const Tokenizer& tokenizer,
      const RemoteOptions& options);
  ~RemoteBackend() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override;
  void Release(SeqId seq) override;
  void Submit(Request request) override;
  bool Step(std::vector<Completion>& done) override;
  void Cancel(RequestId id) override;

  const ServerFacts& facts() const { return facts_; }
  CallPoolStats call_stats() const { return pool_.stats(); }
  const SequenceTree& sequences() const { return tree_; }
  const TextStats& text_stats() const { return text_stats_; }
  // What servers said of their weights so far, each once (ServerFacts::weights
  // first); empty: nothing.
  const std::vector<std::string>& weights() const { return weights_; }

 private:
  using Path = std::shared_ptr<const std::vector<int32_t>>;
  // Of a request: samples [first, first + reply's) of it.
  struct Generation {
    size_t first = 0;
    GenerationReply reply;
  };
  // The next token after a text whose end is not told.
  struct Ending {
    size_t sample = 0;
    GenerationReply reply;
  };
  // Log-probs of text[from..], which belong to `sample` from `position` on.
  struct Scoring {
    size_t sample = 0;  // index among samples, texts or sequences
    size_t position = 0;
    Path text;
    int from = 1;
    int top = 0;
    bool again = false;
    GivenReply reply;
  };
  struct Job {
    Request request;
    uint64_t affinity = 0;
    Path path;     // of `from`
    int open = 0;  // calls that have not ended
    absl::Status status;
    std::vector<RemoteSample> samples;  // of a GenerateRequest
    std::vector<GivenReply> given;      // per text, or per sequence
  };
  // What a call in flight is for: exactly one of them.
  struct Purpose {
    std::shared_ptr<Generation> generation;
    std::shared_ptr<Scoring> scoring;
    std::shared_ptr<Ending> ending;
  };

  RemoteBackend(const RemoteModel& model, const Tokenizer& tokenizer,
                const RemoteOptions& options, ServerFacts facts);

  absl::Status Check(const Request& request) const;
  void StartGeneration(Job& job);
  void StartTexts(Job& job);
  void StartLogprobs(Job& job);
  // Asks for the log-probs of text[from..] in one call or one per token.
  void StartScoring(Job& job, size_t sample, size_t position, Path text,
                    int from, int top);
  void SendScoring(Job& job, std::shared_ptr<Scoring> scoring);
  void Send(Job& job, const DialectCall& call, Purpose purpose,
            std::function<absl::Status(const std::string&)> read);

  // Takes what a call returned; may start others.
  void Take(Job& job, const Purpose& ended);
  void TakeGeneration(Job& job, Generation& generation);
  // Takes the sample at this place once its text's end is known.
  void TakeSample(Job& job, size_t at);
  void StartEnding(Job& job, size_t at);
  void TakeEnding(Job& job, Ending& ending);
  // Makes tokens of a text.
  absl::Status Encode(const Job& job, RemoteSample& sample);
  void SeeWeights(const std::string& weights);
  void AskForWeights();
  void TakeScoring(Job& job, const std::shared_ptr<Scoring>& scoring);
  // Cuts a sample where the request's stop rule ends it, and sets its finish.
  absl::Status ApplyStops(const GenerateRequest& request,
                          RemoteSample& sample) const;
  Completion Finish(Job& job);
  absl::StatusOr<Continuation> ToContinuation(const GenerateRequest& request,
                                              RemoteSample sample);

  const Tokenizer& tokenizer_;
  const RemoteOptions options_;
  const ServerFacts facts_;
  const std::unique_ptr<Dialect> dialect_;
  Capabilities capabilities_;
  BackendStats stats_;
  TextStats text_stats_;
  std::vector<std::string> weights_;
  // Under way, by their ids in the pool, which in_flight_ never gives.
  std::map<uint64_t, std::shared_ptr<std::string>> weights_asked_;
  int64_t lost_ = 0;  // of the pool's calls when they were asked for last
  SequenceTree tree_;
  std::map<RequestId, Job> jobs_;
  InFlight<Purpose> in_flight_;
  std::vector<Completion> finished_;  // without a call: refused at once
  const size_t servers_;
  CallPool pool_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_REMOTE_BACKEND_H_
