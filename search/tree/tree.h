// The search tree: every step a search has seen, with its statistics.
//
//   node 0 (root: the prompt)
//     |-- 1 "a 23\n" -- 3 "b 23+48=71\n" -- ...
//     `-- 2 "a 32\n"
//
// Nodes are addressed by 32-bit indices in order of creation. A node's content
// (kind, text, tokens, log-prob) never changes after Add; its statistics
// (visits, values) do. Children of a node are a linked list in order of
// creation. A continuation sampled again is the same node with one more draw,
// not a second node.
//
// Externally synchronised: a tree belongs to one search.
#ifndef ESPALIER_SEARCH_TREE_TREE_H_
#define ESPALIER_SEARCH_TREE_TREE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "base/growable_array.h"
#include "base/random.h"
#include "base/step_tokens.h"
#include "espalier/node_id.h"
#include "espalier/scores.h"

namespace espalier {

inline constexpr NodeId kNoNode = 0xFFFFFFFFu;

enum class NodeKind : uint8_t {
  kPrompt,  // the root
  kStep,
  kAnswer,  // a step that ends the response
};
// "prompt", "step", "answer" ...
const char* NodeKindName(NodeKind kind);

// Bits of Node::flags.
enum NodeFlag : uint8_t {
  kTerminal = 1,   // nothing can follow: the response ended
  kTruncated = 2,  // cut by a token limit inside the step; never an answer
  kExpanded = 4,   // children have been requested
  kScored = 8,     // step_score and path_score are set
  kClosed = 16,    // nothing left to explore here or below
  kProved = 32,    // a verifier accepted a response ending here or below
  kOpened = 64,    // children have arrived: selection may descend (MCTS)
  kOpening = 128,  // children are requested but not there yet
};

// What a search reads and writes at every node it passes. Kept small because
// with millions of nodes memory access dominates. Statistics are averages, not
// sums, so they stay in the range of the rewards.
struct Node {
  float q = 0;          // mean backed-up value; written by backup
  float prior = 0;      // softmax over siblings; 0 until computed
  uint32_t visits = 0;  // finished visits through its parent; backup adds
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  uint32_t num_children = 0;  // distinct continuations
  NodeId parent = kNoNode;
  uint16_t in_flight = 0;      // selections not backed up yet
  uint8_t flags = 0;           // NodeFlag
  bool scattered : 1 = false;  // children are not contiguous
  bool alias : 1 = false;      // transposition of another node (Tree::Original)

  bool terminal() const { return (flags & kTerminal) != 0; }
  bool truncated() const { return (flags & kTruncated) != 0; }
  bool expanded() const { return (flags & kExpanded) != 0; }
  bool scored() const { return (flags & kScored) != 0; }
  bool closed() const { return (flags & kClosed) != 0; }
  bool proved() const { return (flags & kProved) != 0; }
};
static_assert(sizeof(Node) == 32, "two hot nodes to a cache line");

// A node's content and the models' outputs for it.
struct Step {
  NodeId original = kNoNode;  // of an alias: the first node of the same state
  NodeId last_child = kNoNode;
  float logprob = 0;  // ln p of the step's tokens, summed, T = 1
  // Reward model scores in [0, 1], NaN until kScored: this step is right; all
  // steps so far are right. Further levels: Tree::scores.
  float step_score = std::numeric_limits<float>::quiet_NaN();
  float path_score = std::numeric_limits<float>::quiet_NaN();
  int32_t answer = -1;  // index of its canonical answer, -1 if none
  // Sums over the steps from the root to here.
  float path_logprob = 0;
  uint32_t path_tokens = 0;
  uint16_t depth = 0;       // steps from the root
  uint16_t draws = 0;       // times this continuation was sampled
  uint16_t num_tokens = 0;  // tokens of this step
  NodeKind kind = NodeKind::kStep;
  // One of its visits was counted at creation and is not a visit of its parent
  // (some published searches count a first score this way).
  bool own_visit = false;
};

// A node's content, as passed to Tree::Add.
struct StepDraft {
  NodeKind kind = NodeKind::kStep;
  std::string_view text;
  absl::Span<const int32_t> tokens;
  float logprob = 0;
  bool terminal = false;
  bool truncated = false;
  // Distributions reported by the model; NaN or empty if not reported.
  float mean_entropy = std::numeric_limits<float>::quiet_NaN();
  absl::Span<const float> confidences = {};  // one per token
  absl::Span<const TokenLogprob> alternatives =
      {};  // equally many for every token
  absl::Span<const float> hidden = {};
};

class Tree {
 public:
  Tree();

  // Adds `draft` under `parent`, or counts one more draw of the child that
  // already has the same tokens (the same text if there are no tokens);
  // `*is_new` is set accordingly. Draws and depth saturate at 65,535.
  NodeId Add(NodeId parent, const StepDraft& draft, bool* is_new = nullptr);

  Node& operator[](NodeId id) { return nodes_[kPlace + id]; }
  const Node& operator[](NodeId id) const { return nodes_[kPlace + id]; }
  Step& step(NodeId id) { return steps_[id]; }
  const Step& step(NodeId id) const { return steps_[id]; }
  // Prefetches the children of `id`, or `id` itself if it has none. Children
  // created together are contiguous, so all can be loaded at once.
  void PrefetchChildren(NodeId id) const {
    const Node& node = (*this)[id];
    if (node.num_children == 0) {
      // A leaf: its content is needed next.
      __builtin_prefetch(&steps_[id]);
      return;
    }
    const Node* child = &(*this)[node.first_child];
    __builtin_prefetch(child);
    if (node.num_children > 2) __builtin_prefetch(child + 2);
    if (node.num_children > 4) __builtin_prefetch(child + 4);
    if (node.num_children > 6) __builtin_prefetch(child + 6);
  }
  uint32_t size() const {
    return static_cast<uint32_t>(nodes_.size()) - kPlace;
  }

  std::string_view text(NodeId id) const {
    const StoredStep& step = steps_[id];
    return {texts_.data() + step.text_begin, step.text_size};
  }
  absl::Span<const int32_t> tokens(NodeId id) const {
    const StoredStep& step = steps_[id];
    return {tokens_.data() + step.token_begin, step.num_tokens};
  }
  // Marks `id` as scored. Step and path must be numbers; spreads are not kept.
  void SetScores(NodeId id, const StepScores& scores);
  StepScores scores(NodeId id) const;
  // NaN for a level that the model does not give.
  float score(NodeId id, Level level) const {
    if (level == Level::kPath) return steps_[id].path_score;
    if (level == Level::kStep) return steps_[id].step_score;
    return id < more_scores_.size() ? more_scores_[id][IndexOf(level)]
                                    : StepScores::kNone;
  }
  // What a search ranks `id` by: its path score, or what the search's rule made
  // of its path's scores (score_rule.h). NaN until scored.
  float score(NodeId id) const {
    return values_.size() == 0   ? steps_[id].path_score
           : id < values_.size() ? values_[id]
                                 : StepScores::kNone;
  }
  void SetValue(NodeId id, float value);
  // Weights of the combination "learned", set before the search starts.
  const LevelWeights& level_weights() const { return level_weights_; }
  void set_level_weights(const LevelWeights& weights) {
    level_weights_ = weights;
  }

  // Mean entropy of the model's distribution over the step's tokens, in nats at
  // temperature 1. NaN if not reported.
  float mean_entropy(NodeId id) const {
    return id < reported_.size() ? reported_[id].mean_entropy
                                 : std::numeric_limits<float>::quiet_NaN();
  }
  // The model's confidence in each token: minus the mean ln p of the k most
  // likely tokens at its position, with k from ExpandOptions::top_logprobs.
  // Empty if not requested.
  absl::Span<const float> confidences(NodeId id) const {
    if (id >= reported_.size() ||
        reported_[id].confidence_begin == kNotReported)
      return {};
    return {confidences_.data() + reported_[id].confidence_begin,
            tokens(id).size()};
  }
  // The most likely tokens at each token's position, in falling order of
  // probability, ties by lower id: those of the step's first token, then those
  // of its second, and so on, equally many for each (k, or the size of the
  // vocabulary if that is smaller). Empty if not requested
  // (ExpandOptions::alternatives).
  absl::Span<const TokenLogprob> alternatives(NodeId id) const {
    const auto found = alternatives_.find(id);
    return found == alternatives_.end() ? absl::Span<const TokenLogprob>()
                                        : found->second;
  }
  // The model's output after its last norm, from which the step's last token
  // was drawn; its length is the model's hidden size. Empty if not requested
  // (ExpandOptions::hidden).
  absl::Span<const float> hidden(NodeId id) const {
    const auto found = hidden_.find(id);
    return found == hidden_.end() ? absl::Span<const float>() : found->second;
  }
  // Largest size of hidden() over all nodes.
  size_t hidden_size() const { return hidden_size_; }
  // Nodes from the root's child to `id`, in that order.
  std::vector<NodeId> Path(NodeId id) const;
  // Text of the response up to and including `id`; "" for the root.
  std::string Response(NodeId id) const;
  // The node that `id` stands for: itself, or the node it is an alias of.
  NodeId Original(NodeId id) const {
    return (*this)[id].alias ? steps_[id].original : id;
  }
  // Makes `id`, which has no children, an alias of `original`, which is not an
  // alias.
  void MakeAlias(NodeId id, NodeId original) {
    (*this)[id].alias = true;
    steps_[id].original = original;
  }
  // Hash of the tokens from the root to `id`. It keys the node's random
  // streams, so that the same state draws the same samples under every method.
  uint64_t path_hash(NodeId id) const { return steps_[id].path_hash; }
  // Number of draws requested of `id` so far: the index of its next sample.
  int samples_drawn(NodeId id) const {
    return static_cast<int>(steps_[id].samples_drawn);
  }
  void AddSamplesDrawn(NodeId id, int n) {
    steps_[id].samples_drawn += static_cast<uint32_t>(n);
  }

  // Canonical answers are interned: equal answers have equal indices.
  int32_t InternAnswer(std::string_view answer);
  const std::string& answer_text(int32_t answer) const {
    return answers_[static_cast<size_t>(answer)];
  }
  int num_answers() const { return static_cast<int>(answers_.size()); }

  // Memory held. Arrays over-allocate and reuse those of earlier trees, so
  // equal trees may differ in it.
  int64_t bytes() const;
  // The part used by nodes, texts and tokens: the same for equal trees.
  int64_t used_bytes() const;
  // True shortly before an index or a text offset would not fit in 32 bits.
  bool full() const {
    return nodes_.size() > 0xF0000000u || texts_.size() > 0xF0000000u ||
           tokens_.size() > 0xF0000000u || confidences_.size() > 0xF0000000u;
  }

 private:
  struct StoredStep : Step {
    uint32_t text_begin = 0, text_size = 0, token_begin = 0, samples_drawn = 0;
    uint64_t path_hash = 0;
  };
  static constexpr uint32_t kNotReported = 0xFFFFFFFFu;
  struct Reported {
    float mean_entropy = std::numeric_limits<float>::quiet_NaN();
    uint32_t confidence_begin = kNotReported;
  };
  // Stores what `draft` reports about `id` and was not known yet.
  void Report(NodeId id, const StepDraft& draft);
  // The child of `parent` with the same content, whose path hash is `hash`.
  NodeId FindChild(NodeId parent, const StepDraft& draft, uint64_t hash) const;

  // Position of the root in nodes_, so that its four or eight children start at
  // a cache line, and so do those of all other nodes if all have equally many.
  static constexpr uint32_t kPlace = 1;
  GrowableArray<Node> nodes_;
  GrowableArray<StoredStep> steps_;
  GrowableArray<char> texts_;
  GrowableArray<int32_t> tokens_;
  GrowableArray<Reported>
      reported_;  // up to the last node with reported values
  GrowableArray<float> confidences_;
  // By Level; empty: step and path only.
  GrowableArray<std::array<float, kLevels>> more_scores_;
  GrowableArray<float> values_;  // empty: path scores
  LevelWeights level_weights_;
  absl::flat_hash_map<NodeId, std::vector<TokenLogprob>> alternatives_;
  size_t num_alternatives_ = 0;
  absl::flat_hash_map<NodeId, std::vector<float>> hidden_;
  size_t hidden_size_ = 0, hidden_floats_ = 0;
  std::vector<std::string> answers_;
  absl::flat_hash_map<std::string, int32_t> answer_index_;
};

// Iterates over the children that a node has at the start, in order of
// creation:
//   for (NodeId c : Children(tree, parent)) ...
class Children {
 public:
  Children(const Tree& tree, NodeId parent)
      : tree_(tree),
        first_(tree[parent].first_child),
        count_(tree[parent].num_children),
        scattered_(tree[parent].scattered) {}
  struct Iterator {
    const Tree* tree;
    NodeId id;
    uint32_t left;
    bool scattered;
    NodeId operator*() const { return id; }
    Iterator& operator++() {
      // If contiguous, the next id does not depend on loading this node.
      id = scattered ? (*tree)[id].next_sibling : id + 1;
      --left;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return left != other.left; }
  };
  Iterator begin() const { return {&tree_, first_, count_, scattered_}; }
  Iterator end() const { return {&tree_, kNoNode, 0, scattered_}; }

 private:
  const Tree& tree_;
  NodeId first_;
  uint32_t count_;
  bool scattered_;
};

// Calls each(child) for every child in order of creation, without loop
// overhead. `each` must not add nodes.
template <class Each>
void ForEachChild(const Tree& tree, NodeId parent, const Each& each) {
  const Node& up = tree[parent];
  if (up.scattered) {
    for (const NodeId child : Children(tree, parent)) each(child);
  } else {
    const NodeId end = up.first_child + up.num_children;
    for (NodeId child = up.first_child; child != end; ++child) each(child);
  }
}

inline NodeId Tree::FindChild(NodeId parent, const StepDraft& draft,
                              uint64_t hash) const {
  NodeId found = kNoNode;
  ForEachChild(*this, parent, [&](NodeId c) {
    if (steps_[c].path_hash != hash) return;
    const bool same = draft.tokens.empty() ? text(c) == draft.text
                                           : tokens(c) == draft.tokens;
    if (same && found == kNoNode) found = c;
  });
  return found;
}

inline NodeId Tree::Add(NodeId parent, const StepDraft& draft, bool* is_new) {
  ESP_CHECK(parent < size() && size() < kNoNode - 1);
  uint64_t hash = MixHash(path_hash(parent), StableHash(draft.text));
  for (const int32_t token : draft.tokens) {
    hash = MixHash(hash, static_cast<uint64_t>(token));
  }
  const NodeId known = (*this)[parent].num_children == 0
                           ? kNoNode
                           : FindChild(parent, draft, hash);
  if (is_new != nullptr) *is_new = known == kNoNode;
  const bool tells = draft.mean_entropy == draft.mean_entropy ||
                     !draft.confidences.empty() ||
                     !draft.alternatives.empty() || !draft.hidden.empty();
  if (known != kNoNode) {
    if (tells) Report(known, draft);
    if (steps_[known].draws < 0xFFFF) ++steps_[known].draws;
    return known;
  }
  const NodeId id = size();
  const size_t num_tokens = draft.tokens.size();
  nodes_.Add().flags = static_cast<uint8_t>((draft.terminal ? kTerminal : 0) |
                                            (draft.truncated ? kTruncated : 0));
  StoredStep& step = steps_.Add();
  StoredStep& up_step = steps_[parent];
  (*this)[id].parent = parent;
  step.logprob = draft.logprob;
  step.path_logprob = up_step.path_logprob + draft.logprob;
  step.path_tokens = up_step.path_tokens + static_cast<uint32_t>(num_tokens);
  step.kind = draft.kind;
  step.draws = 1;
  step.depth = static_cast<uint16_t>(std::min<int>(up_step.depth + 1, 0xFFFF));
  step.num_tokens = static_cast<uint16_t>(std::min<size_t>(num_tokens, 0xFFFF));
  step.text_begin = static_cast<uint32_t>(texts_.size());
  step.text_size = static_cast<uint32_t>(draft.text.size());
  step.token_begin = static_cast<uint32_t>(tokens_.size());
  step.path_hash = hash;
  std::copy(draft.text.begin(), draft.text.end(),
            texts_.Extend(draft.text.size()));
  int32_t* const tokens = tokens_.Extend(num_tokens);
  for (size_t i = 0; i < num_tokens; ++i) tokens[i] = draft.tokens[i];
  Node& up = (*this)[parent];
  if (up.num_children == 0) {
    up.first_child = id;
  } else {
    (*this)[up_step.last_child].next_sibling = id;
    up.scattered |= up_step.last_child + 1 != id;
  }
  up_step.last_child = id;
  ++up.num_children;
  if (tells) Report(id, draft);
  return id;
}

// Adds one finished visit of value `v` to this node only.
inline void AddVisit(Node& node, float v) {
  ++node.visits;
  node.q += (v - node.q) / static_cast<float>(node.visits);
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_TREE_TREE_H_
