#include "models/backend/sequence_tree.h"

#include "base/check.h"

namespace espalier {

SeqId SequenceTree::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  ESP_CHECK(Holds(parent));
  if (tokens.empty()) {
    if (parent != kEmptySeq) ++at(parent).refs;
    return parent;
  }
  std::pair<SeqId, std::vector<int32_t>> key(
      parent, std::vector<int32_t>(tokens.begin(), tokens.end()));
  const auto found = index_.find(key);
  if (found != index_.end()) {
    ++at(found->second).refs;
    return found->second;
  }
  auto id = static_cast<SeqId>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  at(id) = {.parent = parent,
            .tokens = key.second,
            .end = at(parent).end + static_cast<int>(tokens.size()),
            .refs = 1};
  ++at(parent).children;
  ++live_;
  index_.emplace(std::move(key), id);
  return id;
}

void SequenceTree::Release(SeqId seq) {
  if (seq == kEmptySeq) return;
  ESP_CHECK(Holds(seq) && at(seq).refs > 0);
  --at(seq).refs;
  while (seq != kEmptySeq && at(seq).refs == 0 && at(seq).children == 0) {
    const SeqId parent = at(seq).parent;
    index_.erase({parent, at(seq).tokens});
    at(seq) = {};
    free_.push_back(seq);
    --live_;
    --at(parent).children;
    seq = parent;
  }
}

std::vector<int32_t> SequenceTree::Path(SeqId seq) const {
  std::vector<int32_t> path(static_cast<size_t>(at(seq).end));
  for (; seq != kEmptySeq; seq = at(seq).parent) {
    const Node& node = at(seq);
    std::copy(node.tokens.begin(), node.tokens.end(),
              path.begin() + node.end - static_cast<int>(node.tokens.size()));
  }
  return path;
}

SeqId SequenceTree::Root(SeqId seq) const {
  while (seq != kEmptySeq && at(seq).parent != kEmptySeq) seq = at(seq).parent;
  return seq;
}

}  // namespace espalier
