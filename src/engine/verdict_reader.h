// Verdicts that a reward model writes: it reasons about a step in its own
// words, and the probability of "yes" against "no" is read at the token that
// says which (GenPRM, Zhao et al. 2025; ThinkPRM, Khalifa et al. 2025).
//
//   prompt  say  [written ... stop]  say  [written]      one vote
//                                          ^ p(yes) / (p(yes) + p(no))
//
// A node's value is the mean over its votes; a vote that ends without a verdict
// counts one half, as does one that the budget of verdict tokens cuts. A format
// with a history gives the model what the first vote said about each earlier
// step. Step and path scores are as in reward_reader.h.
//
// Vote v of a node draws round r from the stream of (seed, question, path, r),
// sample v: what is written does not depend on other searches, threads or
// which request asked. The texts, their tokens and probabilities go into the
// completion of the request that owns the node, and from there into the
// response log; a recorded verdict is not written again.
//
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_VERDICT_READER_H_
#define ESPALIER_SRC_ENGINE_VERDICT_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/backend/backend.h"
#include "models/tokenizer/tokenizer.h"
#include "src/engine/reward_reader.h"
#include "src/engine/step_judge.h"

namespace espalier {

// What a format that writes its verdicts may write about a step; nothing for
// other formats.
VerdictCost VerdictCostOf(const RewardFormat& format);

class VerdictReader : public StepJudge {
 public:
  // InvalidArgument, which names the question, if it cannot be laid out or
  // leaves no room in the context. All arguments by reference outlive the
  // reader.
  static absl::StatusOr<std::unique_ptr<VerdictReader>> Open(
      const RewardScorer& scorer, Backend& model, const Tokenizer& tokenizer,
      std::string question, uint64_t seed);
  ~VerdictReader() override;
  VerdictReader(const VerdictReader&) = delete;
  VerdictReader& operator=(const VerdictReader&) = delete;

  void SetRetention(NodeId node, float priority) override;

 protected:
  bool needs_path() const override;
  bool keeps_written() const override { return true; }
  absl::Status Begin(const Tree& tree, NodeId node) override;
  absl::Status Continue(const Tree& tree, NodeId node, int which,
                        Completion completion) override;
  StepScores Score(const Tree& tree, NodeId node) const override;
  void AddWritten(NodeId node, SearchCompletion& out) const override;
  bool TakeWritten(const Tree& tree, NodeId node,
                   absl::Span<const SampledStep>& samples) override;

 private:
  struct Vote {
    SampledStep written;  // text with what was said; tokens without
    SeqId seq = kEmptySeq;
    size_t length = 0;  // tokens of `seq`
    size_t round = 0;   // that is being written
  };
  struct Place {
    std::vector<int32_t> ids;  // of the prompt
    SeqId prompt = kEmptySeq;
    std::vector<Vote> votes;
    size_t open = 0;  // votes that are not over
    float value = std::numeric_limits<float>::quiet_NaN();
  };

  VerdictReader(const RewardScorer& scorer, Backend& model,
                const Tokenizer& tokenizer, std::string question, uint64_t seed)
      : scorer_(scorer),
        model_(model),
        tokenizer_(tokenizer),
        question_(std::move(question)),
        seed_(seed) {}

  const RewardFormat::Verdict& format() const {
    return *scorer_.format().verdict;
  }
  size_t room() const {
    return static_cast<size_t>(model_.capabilities().context_length);
  }
  // Gives up what was written about a node.
  void Forget(Place& place);
  // Steps that add text to the path of `node`.
  std::vector<NodeId> WithText(const Tree& tree, NodeId node) const;
  // A step without text after one with text, in a format with a history.
  bool IsSame(const Tree& tree, NodeId node) const;
  // What a vote's text begins with.
  std::string FirstSaid() const;
  // Tokens that a vote, which has so many, may write in its round: what the
  // limit of the search's request leaves after the rounds that follow.
  int Allowed(NodeId node, size_t round, size_t written) const;
  GenerateRequest Write(const Tree& tree, NodeId node, size_t round, SeqId from,
                        size_t length, int allowed) const;
  // Takes what a vote wrote in its round, without what a stop leaves out.
  absl::Status TakeRound(const Tree& tree, NodeId node, size_t index,
                         Continuation written);
  // Says the next round's text after `from`, which `rest` completes: the vote
  // writes on, or is read.
  absl::Status NextRound(const Tree& tree, NodeId node, size_t index,
                         SeqId from, const std::string& rest);
  // Reads the choices at the verdict's token in what the last round wrote.
  void ReadWritten(const Tree& tree, NodeId node, size_t index, SeqId before,
                   const std::vector<int32_t>& tokens);
  void ReadChoices(NodeId node, size_t index, SeqId seq);
  void EndVote(const Tree& tree, NodeId node, size_t index, double value);
  void Average(Place& place) const;

  const RewardScorer& scorer_;
  Backend& model_;
  const Tokenizer& tokenizer_;
  const std::string question_;
  const uint64_t seed_;
  std::vector<Place> places_;  // by node
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_VERDICT_READER_H_
