// Rewards that compare two models (Yuan et al. 2024, "Free Process Rewards
// without Process Labels", and PRIME's EurusPRM): one that was trained on
// outcomes, and the reference from which it was trained.
//
//   q_t = beta * sum over the response's tokens up to the end of step t of
//         ln p(token) by the model - ln p(token) by the reference
//
//   path score = sigmoid(q_t),  step score = sigmoid(q_t - q_(t-1))
//
// The response begins after what the chat template writes before it and ends
// with the last token of step t; what closes the message does not count, for a
// response in progress has none. Each path is encoded whole, so that its tokens
// are those of the published program; what they share with its parent's is
// computed once by each model.
//
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_LOG_RATIO_READER_H_
#define ESPALIER_SRC_ENGINE_LOG_RATIO_READER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/backend/backend.h"
#include "src/engine/reward_reader.h"
#include "src/engine/step_judge.h"

namespace espalier {

class LogRatioReader : public StepJudge {
 public:
  // InvalidArgument, which names the question, if it cannot be laid out or
  // leaves no room in the context of `model` or `reference`. All arguments by
  // reference outlive the reader.
  static absl::StatusOr<std::unique_ptr<LogRatioReader>> Open(
      const RewardScorer& scorer, Backend& model, Backend& reference,
      std::string question);
  ~LogRatioReader() override;
  LogRatioReader(const LogRatioReader&) = delete;
  LogRatioReader& operator=(const LogRatioReader&) = delete;

  void SetRetention(NodeId node, float priority) override;

 protected:
  absl::Status Begin(const Tree& tree, NodeId node) override;
  absl::Status Continue(const Tree& tree, NodeId node, int which,
                        Completion completion) override;
  StepScores Score(const Tree& tree, NodeId node) const override;

 private:
  // A prefix of a path, by both models.
  struct Cut {
    size_t length = 0;
    std::array<SeqId, 2> seqs = {kEmptySeq, kEmptySeq};
    std::array<double, 2> sums = {0, 0};  // ln p of the response's tokens

    double ratio() const { return sums[0] - sums[1]; }
  };
  struct Place {
    std::vector<int32_t> ids;  // of the path
    std::vector<size_t> ends;  // lengths still to be read, ascending
    std::vector<Cut> cuts;     // those that were read
    Cut from;                  // where the part that is being read begins
    Cut next;                  // where it ends
    int unread = 0;            // models that have not answered
    double ratio = 0;          // of the whole path, if it is read
  };

  LogRatioReader(const RewardScorer& scorer, Backend& model, Backend& reference,
                 std::string question)
      : scorer_(scorer),
        backends_{&model, &reference},
        question_(std::move(question)) {}

  int room() const;
  void Release(const Cut& cut);
  // Gives up what was read of a path.
  void Forget(Place& place);
  // The longest prefix of `ids` that `node`'s ancestors have read.
  Cut Longest(const Tree& tree, NodeId node,
              const std::vector<int32_t>& ids) const;
  // Sends the next part of a node's path, or ends its work.
  void Proceed(const Tree& tree, NodeId node);

  const RewardScorer& scorer_;
  const std::array<Backend*, 2> backends_;  // the model, its reference
  const std::string question_;
  std::vector<int32_t> stem_;  // tokens before the response
  Cut stem_cut_;
  std::vector<Place> places_;  // by node
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOG_RATIO_READER_H_
