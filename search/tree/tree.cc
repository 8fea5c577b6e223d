#include "search/tree/tree.h"

#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"

namespace espalier {

const char* NodeKindName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kPrompt:
      return "prompt";
    case NodeKind::kStep:
      return "step";
    case NodeKind::kAnswer:
      return "answer";
  }
  return "?";
}

Tree::Tree() {
  nodes_.Extend(kPlace);
  nodes_.Add();
  steps_.Add().kind = NodeKind::kPrompt;
}

void Tree::Report(NodeId id, const StepDraft& draft) {
  while (reported_.size() <= id) reported_.Add();
  Reported& reported = reported_[id];
  if (reported.mean_entropy != reported.mean_entropy) {
    reported.mean_entropy = draft.mean_entropy;
  }
  if (!draft.hidden.empty() &&
      hidden_
          .try_emplace(
              id, std::vector<float>(draft.hidden.begin(), draft.hidden.end()))
          .second) {
    hidden_size_ = std::max(hidden_size_, draft.hidden.size());
    hidden_floats_ += draft.hidden.size();
  }
  if (!draft.alternatives.empty() &&
      alternatives_
          .try_emplace(id, draft.alternatives.begin(), draft.alternatives.end())
          .second) {
    num_alternatives_ += draft.alternatives.size();
  }
  const size_t n = draft.confidences.size();
  if (n == 0 || reported.confidence_begin != kNotReported) return;
  ESP_CHECK(n == tokens(id).size());
  reported.confidence_begin = static_cast<uint32_t>(confidences_.size());
  float* const to = confidences_.Extend(n);
  for (size_t i = 0; i < n; ++i) to[i] = draft.confidences[i];
}

void Tree::SetScores(NodeId id, const StepScores& scores) {
  steps_[id].step_score = scores.step;
  steps_[id].path_score = scores.path;
  (*this)[id].flags |= kScored;
  std::array<float, kLevels> all;
  bool more = false;
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    all[l] = scores[level];
    more |= !kStepAndPath.has(level) && !std::isnan(all[l]);
  }
  if (!more) return;
  constexpr float kNone = StepScores::kNone;
  while (more_scores_.size() <= id) {
    more_scores_.Add() = {kNone, kNone, kNone, kNone, kNone, kNone};
  }
  more_scores_[id] = all;
}

StepScores Tree::scores(NodeId id) const {
  StepScores scores;
  if (id < more_scores_.size()) {
    for (size_t l = 0; l < kLevels; ++l) {
      scores[static_cast<Level>(l)] = more_scores_[id][l];
    }
  }
  scores.step = steps_[id].step_score;
  scores.path = steps_[id].path_score;
  return scores;
}

void Tree::SetValue(NodeId id, float value) {
  while (values_.size() <= id) values_.Add() = StepScores::kNone;
  values_[id] = value;
}

std::vector<NodeId> Tree::Path(NodeId id) const {
  std::vector<NodeId> path;
  for (; id != kRoot; id = (*this)[id].parent) path.push_back(id);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string Tree::Response(NodeId id) const {
  absl::InlinedVector<NodeId, 64> path;
  size_t size = 0;
  for (NodeId at = id; at != kRoot; at = (*this)[at].parent) {
    __builtin_prefetch(&steps_[at]);
    path.push_back(at);
  }
  for (const NodeId step : path) size += steps_[step].text_size;
  std::string response;
  response.reserve(size);
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    response += text(*step);
  }
  return response;
}

int32_t Tree::InternAnswer(std::string_view answer) {
  const auto [it, is_new] = answer_index_.emplace(
      std::string(answer), static_cast<int32_t>(answers_.size()));
  if (is_new) answers_.emplace_back(answer);
  return it->second;
}

// Bookkeeping per node in the hash maps, in addition to the values.
constexpr size_t kHiddenBytes = sizeof(NodeId) + sizeof(std::vector<float>);
constexpr size_t kAlternativesBytes =
    sizeof(NodeId) + sizeof(std::vector<TokenLogprob>);

int64_t Tree::used_bytes() const {
  return static_cast<int64_t>(
      uint64_t{size()} * (sizeof(Node) + sizeof(StoredStep)) + texts_.size() +
      tokens_.size() * sizeof(int32_t) + reported_.size() * sizeof(Reported) +
      more_scores_.size() * sizeof(more_scores_[0]) +
      (values_.size() + confidences_.size() + hidden_floats_) * sizeof(float) +
      num_alternatives_ * sizeof(TokenLogprob) + hidden_.size() * kHiddenBytes +
      alternatives_.size() * kAlternativesBytes);
}

int64_t Tree::bytes() const {
  return nodes_.bytes() + steps_.bytes() + texts_.bytes() + tokens_.bytes() +
         reported_.bytes() + confidences_.bytes() + more_scores_.bytes() +
         values_.bytes() +
         static_cast<int64_t>(hidden_floats_ * sizeof(float) +
                              num_alternatives_ * sizeof(TokenLogprob) +
                              alternatives_.size() * kAlternativesBytes +
                              hidden_.size() * kHiddenBytes);
}

}  // namespace espalier
