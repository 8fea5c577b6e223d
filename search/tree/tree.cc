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
  Node root;
  root.kind = NodeKind::kPrompt;
  nodes_.push_back(root);
  said_.push_back({0, 0, 0, 0, 0});
}

NodeId Tree::Add(NodeId parent, const StepDraft& draft, bool* is_new) {
  ESP_CHECK(parent < size() && size() < kNoNode - 1);
  for (NodeId c = nodes_[parent].first_child; c != kNoNode;
       c = nodes_[c].next_sibling) {
    const bool same = draft.tokens.empty() ? text(c) == draft.text
                                           : tokens(c) == draft.tokens;
    if (!same) continue;
    if (nodes_[c].draws < 0xFFFF) ++nodes_[c].draws;
    if (is_new != nullptr) *is_new = false;
    return c;
  }
  const NodeId id = size();
  Node node;
  node.parent = parent;
  node.logprob = draft.logprob;
  node.kind = draft.kind;
  node.draws = 1;
  node.step = id;
  node.depth =
      static_cast<uint16_t>(std::min<int>(nodes_[parent].depth + 1, 0xFFFF));
  node.num_tokens =
      static_cast<uint16_t>(std::min<size_t>(draft.tokens.size(), 0xFFFF));
  if (draft.terminal) node.flags |= kTerminal;
  if (draft.truncated) node.flags |= kTruncated;
  uint64_t hash = MixHash(path_hash(parent), StableHash(draft.text));
  for (const int32_t token : draft.tokens) {
    hash = MixHash(hash, static_cast<uint64_t>(token));
  }
  said_.push_back({static_cast<uint32_t>(texts_.size()),
                   static_cast<uint32_t>(draft.text.size()),
                   static_cast<uint32_t>(tokens_.size()), 0, hash});
  texts_.append(draft.text);
  tokens_.insert(tokens_.end(), draft.tokens.begin(), draft.tokens.end());
  nodes_.push_back(node);
  Node& up = nodes_[parent];
  if (up.last_child == kNoNode) {
    up.first_child = id;
  } else {
    nodes_[up.last_child].next_sibling = id;
  }
  up.last_child = id;
  ++up.num_children;
  if (is_new != nullptr) *is_new = true;
  return id;
}

std::string_view Tree::text(NodeId id) const {
  const Said& said = said_[nodes_[id].step];
  return std::string_view(texts_).substr(said.text_begin, said.text_size);
}

absl::Span<const int32_t> Tree::tokens(NodeId id) const {
  const Said& said = said_[nodes_[id].step];
  return absl::MakeConstSpan(tokens_).subspan(said.token_begin,
                                              nodes_[id].num_tokens);
}

std::vector<NodeId> Tree::Path(NodeId id) const {
  std::vector<NodeId> path;
  for (; id != kRoot; id = nodes_[id].parent) path.push_back(id);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Tree::Response(NodeId id) const {
  std::string response;
  for (const NodeId step : Path(id)) response += text(step);
  return response;
}

uint64_t Tree::path_hash(NodeId id) const {
  return said_[nodes_[id].step].path_hash;
}

int Tree::samples_drawn(NodeId id) const {
  return static_cast<int>(said_[nodes_[id].step].samples_drawn);
}

void Tree::AddSamplesDrawn(NodeId id, int n) {
  said_[nodes_[id].step].samples_drawn += static_cast<uint32_t>(n);
}

int32_t Tree::InternAnswer(std::string_view answer) {
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (answers_[i] == answer) return static_cast<int32_t>(i);
  }
  answers_.emplace_back(answer);
  return static_cast<int32_t>(answers_.size()) - 1;
}

int64_t Tree::bytes() const {
  return static_cast<int64_t>(nodes_.capacity() * sizeof(Node) +
                              said_.capacity() * sizeof(Said) +
                              texts_.capacity() + tokens_.capacity() * 4);
}

}  // namespace espalier
