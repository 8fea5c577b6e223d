// A reward model behind a server that computes its head, as a backend that
// answers ScoreRequests of kOutputs and nothing else.
//
//   ESP_ASSIGN_OR_RETURN(auto backend,
//                        PooledBackend::Connect(model, *tokenizer, head, {}));
//
// The whole text of each sequence is sent. Where the server answers with rows
// per tag or token, sequences of one request that are prefixes of another are
// read from that one's reply: a path of ten steps that is scored at once is one
// call. An endpoint for the probabilities of tokens (choice_scores.h) takes the
// texts of all sequences in one call, each by itself.
//
// Calls are tried again and move to other servers as RemoteBackend's do, and
// `stats` are counted as there.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_REMOTE_POOLED_BACKEND_H_
#define ESPALIER_MODELS_REMOTE_POOLED_BACKEND_H_

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
#include "models/remote/choice_scores.h"
#include "models/remote/in_flight.h"
#include "models/remote/pooled_scores.h"
#include "models/remote/remote_backend.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

class PooledBackend : public Backend {
 public:
  // Probes every server (ProbeScorer, FindPooledWay); all must offer the same
  // model in the same way. `tokenizer` is the model's own and outlives the
  // backend.
  static absl::StatusOr<std::unique_ptr<PooledBackend>> Connect(
      const RemoteModel& model, const Tokenizer& tokenizer, PooledHead head,
      const RemoteOptions& options);

  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override;
  void Release(SeqId seq) override;
  void Submit(Request request) override;
  bool Step(std::vector<Completion>& done) override;
  void Cancel(RequestId id) override;

  const PooledWay& way() const { return way_; }
  CallPoolStats call_stats() const { return pool_.stats(); }

 private:
  // One text that is sent, and where it is read.
  struct Asked {
    std::vector<int32_t> text;
    std::vector<size_t> sequences;  // of the request, prefixes of `text`
    std::vector<size_t> ends;       // of each of them
    std::vector<std::vector<float>> rows;
    int64_t computed = 0;  // tokens
  };
  // Texts whose choices are asked for at once.
  struct AskedChoices {
    std::vector<std::vector<int32_t>> texts;
    std::vector<std::vector<size_t>> sequences;  // of each text
    ChoiceLogprobs logprobs;
  };
  struct Job {
    int open = 0;  // calls that have not ended
    absl::Status status;
    std::vector<std::vector<float>> rows;  // by sequence
  };
  // Exactly one of them.
  struct Question {
    std::shared_ptr<Asked> asked;
    std::shared_ptr<AskedChoices> choices;
  };

  PooledBackend(const RemoteModel& model, const Tokenizer& tokenizer,
                PooledHead head, const RemoteOptions& options,
                ServerFacts facts, PooledWay way);

  absl::Status Check(const Request& request) const;
  // The texts to send for the request's sequences.
  std::vector<std::shared_ptr<Asked>> Texts(const ScoreRequest& request) const;
  void Ask(RequestId job, uint64_t affinity, std::shared_ptr<Asked> asked);
  void AskChoices(RequestId job, uint64_t affinity,
                  std::shared_ptr<AskedChoices> asked);
  void Send(RequestId job, uint64_t affinity, DialectCall call,
            Question question,
            std::function<absl::Status(const std::string&)> read);
  // Takes what a call returned.
  void Take(Job& job, Question& question);

  const Tokenizer& tokenizer_;
  const PooledHead head_;
  const RemoteOptions options_;
  const ServerFacts facts_;
  const PooledWay way_;
  Capabilities capabilities_;
  BackendStats stats_;
  SequenceTree tree_;
  std::map<RequestId, Job> jobs_;
  InFlight<Question> in_flight_;
  std::vector<Completion> finished_;  // without a call
  CallPool pool_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_POOLED_BACKEND_H_
