// Scores of a search's nodes from a reward model of a published format.
//
//   ESP_ASSIGN_OR_RETURN(auto reader,
//                        RewardReader::Open(scorer, *backend, question));
//   ESP_ASSIGN_OR_RETURN(RewardQuery query, reader->Ask(tree, nodes));
//   backend->Submit({.id = 1, .body = query.request});
//   reader->Take(query.nodes, completion.rows);
//   reader->Score(tree, nodes[0]);
//
// The reader lays a node's path out in the reward model's own tokenizer and
// format, whatever the policy's are. What was computed for a path stays
// computed: a node's tokens go on from its parent's, and where the tokenizer
// merges over a step's end, or the format closes the text, the few tokens that
// differ are computed again and counted.
//
//   parent  q q q q s s s s | s s s s | e e      | cuts: where a child may
//   child   q q q q s s s s   s s s m   t t t t    branch off
//
// What the scores are depends on the model:
//
//   own heads       the levels that they were trained on
//   step and path   a format with an output for each: both
//   last w steps    judged together: one value, which is the score of the
//                   window, the step and the path, since an earlier error may
//                   have been corrected
//   other steps     `step` is the value of the last step, `path` the lowest
//                   value of the path's steps: all are right only if the worst
//                   is
//   outcome         judges the response so far: one value, which is the score
//                   of the outcome, the step and the path
//
// Values are brought into [0, 1] by SearchScore (models/reward/reward_head.h).
// A step without text adds nothing to its path and has the score of the path
// before it.
//
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_REWARD_READER_H_
#define ESPALIER_SRC_ENGINE_REWARD_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/scores.h"
#include "models/backend/backend.h"
#include "models/reward/reward_head.h"
#include "models/reward/step_layout.h"
#include "search/tree/tree.h"

namespace espalier {

// What all searches share. Immutable.
struct RewardScorer {
  StepLayout layout;
  RewardHead head;      // no layers: ln p of layout.choices(), or `served`
  bool served = false;  // the backend computes the head (ScoreRead::kOutputs)

  const RewardFormat& format() const { return layout.format(); }
  LevelSet levels() const;
};

// A request, and the node whose path each of its sequences is.
struct RewardQuery {
  ScoreRequest request;
  std::vector<NodeId> nodes;
};

struct RewardReaderStats {
  int64_t laid_out = 0;  // tokens of sequences that were new
  int64_t again = 0;     // of those, beyond what the path grew by
};

class RewardReader {
 public:
  // `question`: the prompt, if the format asks for it. InvalidArgument, which
  // names the question, if it cannot be laid out or
  // leaves no room in the backend's context. `scorer` and `backend` outlive the
  // reader.
  static absl::StatusOr<std::unique_ptr<RewardReader>> Open(
      const RewardScorer& scorer, Backend& backend, std::string question);
  ~RewardReader();
  RewardReader(const RewardReader&) = delete;
  RewardReader& operator=(const RewardReader&) = delete;

  // What must be read to score `nodes`: their paths, and those of ancestors
  // that are not read yet. InvalidArgument for a path that cannot be laid out
  // or is longer than the backend's context.
  absl::StatusOr<RewardQuery> Ask(const Tree& tree,
                                  absl::Span<const NodeId> nodes);
  // The rows that the backend read for a query's nodes.
  void Take(absl::Span<const NodeId> nodes,
            const std::vector<std::vector<float>>& rows);
  // The scores of a node that was read.
  StepScores Score(const Tree& tree, NodeId node) const;

  // Sets the retention priority of `node`, if it has sequences.
  void SetRetention(NodeId node, float priority);
  const RewardReaderStats& stats() const { return stats_; }

 private:
  struct Place {
    std::vector<int32_t> ids;  // of the path; empty: not laid out
    std::vector<size_t> cuts;  // lengths of the sequences, ascending
    std::vector<SeqId> seqs;   // the path up to each cut
    float value = std::numeric_limits<float>::quiet_NaN();
    float path = std::numeric_limits<float>::quiet_NaN();  // with a path_label
    StepScores own;  // of Espalier's own heads
  };

  RewardReader(const RewardScorer& scorer, Backend& backend,
               std::string question)
      : scorer_(scorer), backend_(backend), question_(std::move(question)) {}

  // The path's score is made from its steps' scores.
  bool from_steps() const {
    return scorer_.format().unit == RewardUnit::kStep &&
           scorer_.format().path_label < 0 &&
           scorer_.format().outputs.empty() && scorer_.format().window == 1;
  }
  // Lays out `node` and its ancestors.
  absl::Status LayOut(const Tree& tree, NodeId node);
  // Makes the sequences of `place`, the longest of which is shared with
  // `parent` or its ancestors.
  void Extend(const Tree& tree, NodeId parent, LaidOutPath path, Place& place);

  const RewardScorer& scorer_;
  Backend& backend_;
  const std::string question_;
  Place stem_;                 // what every path of the question begins with
  std::vector<Place> places_;  // by node
  RewardReaderStats stats_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_REWARD_READER_H_
