#include "search/tree/tree.h"

#include <algorithm>

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
