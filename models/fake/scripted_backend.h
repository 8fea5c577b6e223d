// A backend without a model: it continues every text along a made-up tree, so
// that tests of searches and of the engine are exact and take microseconds.
//
//   prompt\n s2\n s0\n s3\n = 47\n <end>
//            '------------'   depth lines, then the answer, then the end
//            s<k>, k < branching
//
// Tokens are those of ByteTokenizer. Each step s<k> on a given path is good or
// bad by a seeded hash; good ones are more likely to be proposed (`skill`) and,
// with noise, score higher. The answer is Gold(prompt) if all steps are good
// and another number otherwise. A prompt that does not end in a newline gets
// one first.
//
// Everything is a function of (seed, sequence, stream). With max_delay,
// completions are delayed by a pseudo-random number of steps, which changes the
// order of arrival and nothing else.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_FAKE_SCRIPTED_BACKEND_H_
#define ESPALIER_MODELS_FAKE_SCRIPTED_BACKEND_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/backend/backend.h"
#include "models/fake/byte_tokenizer.h"

namespace espalier {

struct ScriptedOptions {
  uint64_t seed = 1;
  int branching = 4;          // 1 to 10 different steps at each node
  int depth = 4;              // steps before the answer
  double good_rate = 0.5;     // share of steps that are good
  float skill = 1;            // added to the logit of a good step
  float reward_noise = 0.4f;  // width of the uniform noise on scores
  bool reward = true;         // answers ScoreRequests of rewards
  int hidden_size = 0;        // of hidden rows, pseudo-random; 0: gives none
  bool logits = false;        // answers ScoreRequests of kLogprobs
  int context_length = 4096;
  int max_delay = 0;  // most Step() calls that a completion is delayed
};

class ScriptedBackend : public Backend {
 public:
  explicit ScriptedBackend(const ScriptedOptions& options);

  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override;
  void Release(SeqId seq) override;
  void Submit(Request request) override;
  bool Step(std::vector<Completion>& done) override;
  void Cancel(RequestId id) override;

  // Ground truth of a sequence: all its steps are good.
  bool Good(SeqId seq) const;
  // The number reached by good steps after `prompt`.
  int Gold(SeqId prompt) const;
  // Stored sequences, except the empty one.
  int live_sequences() const { return live_; }
  int references(SeqId seq) const { return nodes_[seq].refs; }

 private:
  // Position of a text in the script.
  enum class Line : uint8_t {
    kFresh,     // at the beginning of a line
    kOther,     // within a line that is not part of the script
    kStep,      // s
    kDigit,     // s2
    kEquals,    // =
    kSpace,     // "= "
    kTens,      // = 4
    kOnes,      // = 47
    kAnswered,  // = 47\n
    kEnded,
  };
  struct State {
    uint64_t prompt = 0;  // hash of the text before the first step
    uint64_t path = 0;    // hash of all tokens
    uint64_t line_start = 0;
    int length = 0;
    int depth = 0;
    bool good = true;
    bool last_good = true;
    int digit = 0;
    Line line = Line::kFresh;
  };
  struct Node {
    SeqId parent = kEmptySeq;
    std::vector<int32_t> tokens;
    State state;
    int refs = 0;
    int children = 0;
  };
  struct Pending {
    Request request;
    int due = 0;  // Step() calls left
  };

  State Advance(State state, int32_t token) const;
  State Leave(State state) const;
  bool StepIsGood(uint64_t line_start, int digit) const;
  int Answer(const State& state) const;
  double Noise(uint64_t a, uint64_t b) const;  // uniform in [0, 1)
  void Candidates(const State& state, std::vector<int32_t>& tokens,
                  std::vector<float>& logits) const;
  absl::StatusOr<Continuation> Continue(const GenerateRequest& request, int i);
  Completion Run(const Request& request);
  StepScores Score(const State& state) const;
  // What a request of hidden rows or log-probs reads at the end of a text: in
  // [-1, 1), from the text and the index or token.
  float Read(const State& state, uint64_t index) const;
  absl::Status CheckRead(const ScoreRequest& request) const;
  absl::Status Check(const GenerateRequest& request) const;
  void Free(SeqId seq);

  ScriptedOptions options_;
  Capabilities capabilities_;
  BackendStats stats_;
  ByteTokenizer tokenizer_;
  std::vector<Node> nodes_;
  std::vector<SeqId> free_ids_;
  std::map<std::pair<SeqId, std::vector<int32_t>>, SeqId> index_;
  std::vector<Pending> pending_;
  int live_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_FAKE_SCRIPTED_BACKEND_H_
