#include "src/engine/step_judge.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace espalier {

std::vector<NodeId> StepJudge::PathOf(const Tree& tree, NodeId node) {
  std::vector<NodeId> path = tree.Path(node);
  if (path.empty()) path.push_back(kRoot);
  return path;
}

NodeId StepJudge::Before(const Tree& tree, NodeId node) {
  if (node == kRoot || tree[node].parent == kRoot) return kNoNode;
  return tree[node].parent;
}

std::vector<NodeId> StepJudge::Needed(const Tree& tree, NodeId node) const {
  return needs_path() ? PathOf(tree, node) : std::vector<NodeId>{node};
}

std::vector<NodeId> StepJudge::Claim(const Tree& tree,
                                     absl::Span<const NodeId> nodes) {
  if (places_.size() < tree.size()) places_.resize(tree.size());
  std::vector<NodeId> claimed;
  for (const NodeId node : nodes) {
    for (const NodeId id : Needed(tree, node)) {
      if (places_[id].state != State::kNew) continue;
      places_[id].state = State::kWaits;
      claimed.push_back(id);
    }
  }
  return claimed;
}

void StepJudge::Ask(uint64_t number, const Tree& tree,
                    absl::Span<const NodeId> nodes, int max_tokens) {
  Asked& asked = asked_.emplace_back(
      Asked{number, {nodes.begin(), nodes.end()}, Claim(tree, nodes), {}});
  for (const NodeId node : nodes) {
    for (const NodeId id : Needed(tree, node)) asked.needed.push_back(id);
  }
  const std::vector<NodeId> begun = asked.owned;
  for (const NodeId id : begun) places_[id].max_tokens = max_tokens;
  for (const NodeId id : begun) Try(tree, id);
}

void StepJudge::Recall(const Tree& tree, absl::Span<const NodeId> nodes,
                       const SearchCompletion& completion) {
  if (!keeps_written()) return;
  absl::Span<const SampledStep> samples = completion.samples;
  // All first, so that none of them begins because the one before it is done.
  const std::vector<NodeId> claimed = Claim(tree, nodes);
  for (const NodeId id : claimed) {
    places_[id].state =
        TakeWritten(tree, id, samples) ? State::kDone : State::kNew;
  }
  for (const NodeId id : claimed) {
    if (places_[id].state == State::kDone) Done(tree, id);
  }
}

std::vector<StepJudge::Part> StepJudge::TakeParts() {
  return std::exchange(parts_, {});
}

void StepJudge::Send(NodeId node, int which, Backend& backend,
                     Request request) {
  const uint64_t id = next_part_++;
  sent_[id] = {node, which, &backend};
  parts_.push_back({id, &backend, std::move(request)});
}

void StepJudge::Answer(uint64_t part, const Tree& tree, Completion completion) {
  const auto it = sent_.find(part);
  ESP_CHECK(it != sent_.end());
  const Sent sent = it->second;
  sent_.erase(it);
  if (places_[sent.node].state != State::kOpen) {
    // Another part of the node has failed.
    for (const Continuation& c : completion.continuations) {
      sent.backend->Release(c.seq);
    }
    for (const TextScore& text : completion.texts) {
      sent.backend->Release(text.seq);
    }
    return;
  }
  absl::Status status = completion.status;
  if (status.ok()) {
    status = Continue(tree, sent.node, sent.which, std::move(completion));
  }
  if (!status.ok()) Fail(tree, sent.node, status);
}

void StepJudge::Try(const Tree& tree, NodeId node) {
  if (places_[node].state != State::kWaits) return;
  const NodeId before = needs_path() ? Before(tree, node) : kNoNode;
  if (before != kNoNode) {
    const Place& above = places_[before];
    if (above.state == State::kFailed) Fail(tree, node, above.failure);
    if (above.state != State::kDone) return;
  }
  places_[node].state = State::kOpen;
  const absl::Status status = Begin(tree, node);
  if (!status.ok()) Fail(tree, node, status);
}

void StepJudge::Done(const Tree& tree, NodeId node) {
  places_[node].state = State::kDone;
  judged_.push_back(node);
  // A child may be done at once and come back here: a loop, for paths may be
  // long.
  if (std::exchange(begins_, true)) return;
  while (!judged_.empty()) {
    const NodeId next = judged_.back();
    judged_.pop_back();
    for (const NodeId child : Children(tree, next)) {
      if (child < places_.size()) Try(tree, child);
    }
  }
  begins_ = false;
}

void StepJudge::Fail(const Tree& tree, NodeId node,
                     const absl::Status& failure) {
  // Those that wait for it fail with it: a loop, for paths may be long.
  std::vector<NodeId> failed = {node};
  while (!failed.empty()) {
    const NodeId next = failed.back();
    failed.pop_back();
    if (places_[next].state == State::kFailed) continue;
    places_[next] = {.state = State::kFailed, .failure = failure};
    if (!needs_path()) continue;
    for (const NodeId child : Children(tree, next)) {
      if (child < places_.size() && places_[child].state == State::kWaits) {
        failed.push_back(child);
      }
    }
  }
}

std::vector<SearchCompletion> StepJudge::TakeScored(const Tree& tree) {
  std::vector<SearchCompletion> scored;
  for (auto it = asked_.begin(); it != asked_.end();) {
    SearchCompletion out{.number = it->number};
    bool ready = true;
    for (const NodeId id : it->needed) {
      const Place& place = places_[id];
      if (place.state == State::kFailed) out.status.Update(place.failure);
      ready = ready && place.state == State::kDone;
    }
    if (!ready && out.status.ok()) {
      ++it;
      continue;
    }
    if (out.status.ok()) {
      for (const NodeId id : it->nodes) out.scores.push_back(Score(tree, id));
      for (const NodeId id : it->owned) AddWritten(id, out);
    }
    scored.push_back(std::move(out));
    it = asked_.erase(it);
  }
  return scored;
}

void StepJudge::Cancel() {
  sent_.clear();
  parts_.clear();
  asked_.clear();
  for (Place& place : places_) {
    if (place.state == State::kWaits || place.state == State::kOpen) {
      place.state = State::kNew;
    }
  }
}

}  // namespace espalier
