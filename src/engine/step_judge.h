// Scores of a search's nodes that take more than one reading of a reward model:
// comparisons of two models and verdicts that a model writes.
//
//   ESP_RETURN_IF_ERROR(judge->Ask(number, tree, nodes));
//   for (StepJudge::Part& part : judge->TakeParts()) ...  // send it
//   judge->Answer(part.id, tree, std::move(completion));
//   for (SearchCompletion& scored : judge->TakeScored(tree)) ...  // deliver it
//
// A node begins once its parent is judged, since it may go on from what the
// parent has; its work is a series of parts. A node that two search requests
// need is judged once: its work belongs to the request that asked first, and
// the other waits. So what a completion holds depends on the order in which
// requests are issued, and not on when answers arrive.
//
//   request 7: nodes 5, 6        node 2  open, part 1 sent
//   request 8: node 9            node 5  waits for 2       owner 7
//                                node 9  waits for 2       owner 8
//
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_STEP_JUDGE_H_
#define ESPALIER_SRC_ENGINE_STEP_JUDGE_H_

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"
#include "search/search_context.h"
#include "search/tree/tree.h"
#include "src/engine/reward_reader.h"

namespace espalier {

class StepJudge {
 public:
  struct Part {
    uint64_t id = 0;
    Backend* backend = nullptr;
    Request request;  // without its id
  };

  virtual ~StepJudge() = default;

  // Begins to judge the paths of `nodes` for the search request `number`. A
  // vote about a node whose work is begun for it is written in at most
  // `max_tokens`; 0: as the format allows.
  void Ask(uint64_t number, const Tree& tree, absl::Span<const NodeId> nodes,
           int max_tokens = 0);
  // The same for a request whose recorded completion is known.
  void Recall(const Tree& tree, absl::Span<const NodeId> nodes,
              const SearchCompletion& completion);
  // Requests to send now.
  std::vector<Part> TakeParts();
  // The completion of a part; `tree` is the search's.
  void Answer(uint64_t part, const Tree& tree, Completion completion);
  // Completions of search requests whose nodes are all judged, or that failed.
  std::vector<SearchCompletion> TakeScored(const Tree& tree);
  // The parts that were sent will not be answered, and no request waits.
  void Cancel();

  // Sets the retention priority of `node`, if it has sequences.
  virtual void SetRetention(NodeId node, float priority) = 0;
  const RewardReaderStats& stats() const { return stats_; }

 protected:
  // Begins the node's work, whose parent is judged: sends a part, or calls
  // Done. An error fails the requests that need the node.
  virtual absl::Status Begin(const Tree& tree, NodeId node) = 0;
  // The next move after a part of the node has been answered.
  virtual absl::Status Continue(const Tree& tree, NodeId node, int which,
                                Completion completion) = 0;
  virtual StepScores Score(const Tree& tree, NodeId node) const = 0;
  // A node's work begins after that of the one before it on its path, and a
  // request waits for its nodes' whole paths; false: nodes are judged apart.
  virtual bool needs_path() const { return true; }
  // What was written about a node goes into the completion that owns it, and
  // comes back from a recorded one: TakeWritten removes it from the front of
  // `samples`; false: it is not there, and the node is judged when needed.
  virtual bool keeps_written() const { return false; }
  virtual void AddWritten(NodeId /*node*/, SearchCompletion& /*out*/) const {}
  virtual bool TakeWritten(const Tree& /*tree*/, NodeId /*node*/,
                           absl::Span<const SampledStep>& /*samples*/) {
    return false;
  }

  // `which` is returned to Continue.
  void Send(NodeId node, int which, Backend& backend, Request request);
  void Done(const Tree& tree, NodeId node);
  // Most tokens of a vote about the node; 0: no limit.
  int max_tokens(NodeId node) const { return places_[node].max_tokens; }
  // The steps from the root to `node`; of an empty response only the root.
  static std::vector<NodeId> PathOf(const Tree& tree, NodeId node);
  // The node before `node` on its path; kNoNode for the first.
  static NodeId Before(const Tree& tree, NodeId node);

  RewardReaderStats stats_;

 private:
  enum class State : uint8_t { kNew, kWaits, kOpen, kDone, kFailed };
  struct Place {
    State state = State::kNew;
    int max_tokens = 0;
    absl::Status failure;
  };
  struct Asked {
    uint64_t number = 0;
    std::vector<NodeId> nodes;  // that the search asked for
    std::vector<NodeId> owned;  // whose work was begun for it
    std::vector<NodeId> needed;
  };
  struct Sent {
    NodeId node = kNoNode;
    int which = 0;
    Backend* backend = nullptr;
  };

  // The nodes that must be judged to score `node`.
  std::vector<NodeId> Needed(const Tree& tree, NodeId node) const;
  // The nodes of the paths that nobody has asked for; marks them as waiting.
  std::vector<NodeId> Claim(const Tree& tree, absl::Span<const NodeId> nodes);
  // Begins a waiting node if the one before it is judged.
  void Try(const Tree& tree, NodeId node);
  void Fail(const Tree& tree, NodeId node, const absl::Status& failure);

  std::vector<Place> places_;   // by node
  std::vector<NodeId> judged_;  // whose children may begin
  bool begins_ = false;         // Done is beginning them
  std::list<Asked> asked_;      // in order of issue
  std::map<uint64_t, Sent> sent_;
  std::vector<Part> parts_;
  uint64_t next_part_ = 1;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_STEP_JUDGE_H_
