#include "search/tree/tree.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/base/random.h"

namespace espalier {

const char* NodeKindName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kPrompt:
      return "prompt";
    case NodeKind::kStep:
      return "step";
    case NodeKind::kAnswer:
      return "answer";
    case NodeKind::kPlan:
      return "plan";
    case NodeKind::kSegment:
      return "segment";
    case NodeKind::kThought:
      return "thought";
    case NodeKind::kToolCall:
      return "tool_call";
    case NodeKind::kToolResult:
      return "tool_result";
    case NodeKind::kSubgoal:
      return "subgoal";
  }
  return "?";
}

Tree::Tree() {
  nodes_.Add();
  steps_.Add().kind = NodeKind::kPrompt;
}

NodeId Tree::Add(NodeId parent, const StepDraft& draft, bool* is_new) {
  ESP_CHECK(parent < size() && size() < kNoNode - 1);
  uint64_t hash = MixHash(path_hash(parent), StableHash(draft.text));
  for (const int32_t token : draft.tokens) {
    hash = MixHash(hash, static_cast<uint64_t>(token));
  }
  for (NodeId c = nodes_[parent].first_child; c != kNoNode;
       c = nodes_[c].next_sibling) {
    if (steps_[c].path_hash != hash) continue;
    const bool same = draft.tokens.empty() ? text(c) == draft.text
                                           : tokens(c) == draft.tokens;
    if (!same) continue;
    if (steps_[c].draws < 0xFFFF) ++steps_[c].draws;
    if (is_new != nullptr) *is_new = false;
    return c;
  }
  const NodeId id = size();
  Node& node = nodes_.Add();
  if (draft.terminal) node.flags |= kTerminal;
  if (draft.truncated) node.flags |= kTruncated;
  StoredStep& step = steps_.Add();
  StoredStep& up_step = steps_[parent];
  step.parent = parent;
  step.logprob = draft.logprob;
  step.kind = draft.kind;
  step.draws = 1;
  step.depth = static_cast<uint16_t>(std::min<int>(up_step.depth + 1, 0xFFFF));
  step.num_tokens =
      static_cast<uint16_t>(std::min<size_t>(draft.tokens.size(), 0xFFFF));
  step.text_begin = static_cast<uint32_t>(texts_.size());
  step.text_size = static_cast<uint32_t>(draft.text.size());
  step.token_begin = static_cast<uint32_t>(tokens_.size());
  step.path_hash = hash;
  std::copy(draft.text.begin(), draft.text.end(),
            texts_.Extend(draft.text.size()));
  std::copy(draft.tokens.begin(), draft.tokens.end(),
            tokens_.Extend(draft.tokens.size()));
  Node& up = nodes_[parent];
  if (up.num_children == 0) {
    up.first_child = id;
  } else {
    nodes_[up_step.last_child].next_sibling = id;
    up.scattered |= up_step.last_child + 1 != id;
  }
  up_step.last_child = id;
  ++up.num_children;
  if (is_new != nullptr) *is_new = true;
  return id;
}

std::string_view Tree::text(NodeId id) const {
  const StoredStep& step = steps_[id];
  return {texts_.data() + step.text_begin, step.text_size};
}

absl::Span<const int32_t> Tree::tokens(NodeId id) const {
  const StoredStep& step = steps_[id];
  return {tokens_.data() + step.token_begin, step.num_tokens};
}

std::vector<NodeId> Tree::Path(NodeId id) const {
  std::vector<NodeId> path;
  for (; id != kRoot; id = steps_[id].parent) path.push_back(id);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Tree::Response(NodeId id) const {
  std::string response;
  for (const NodeId step : Path(id)) response += text(step);
  return response;
}

int32_t Tree::InternAnswer(std::string_view answer) {
  const auto [it, is_new] = answer_index_.emplace(
      std::string(answer), static_cast<int32_t>(answers_.size()));
  if (is_new) answers_.emplace_back(answer);
  return it->second;
}

int64_t Tree::used_bytes() const {
  return static_cast<int64_t>(nodes_.size() *
                                  (sizeof(Node) + sizeof(StoredStep)) +
                              texts_.size() + tokens_.size() * sizeof(int32_t));
}

int64_t Tree::bytes() const {
  return nodes_.bytes() + steps_.bytes() + texts_.bytes() + tokens_.bytes();
}

}  // namespace espalier
