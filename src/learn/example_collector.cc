#include "src/learn/example_collector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace espalier {
namespace {

// True if any token is imitated or any step has a label.
bool Teaches(const TrainSequence& s) {
  for (size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.lm_weight[i] > 0 || s.Labelled(i)) return true;
  }
  return false;
}

uint64_t HashTokens(const std::vector<int32_t>& tokens) {
  uint64_t hash = tokens.size();
  for (const int32_t token : tokens) {
    hash = MixHash(hash, static_cast<uint64_t>(token));
  }
  return hash;
}

}  // namespace

void ExampleCollector::Begin(absl::Span<const int32_t> prompt,
                             float advantage) {
  prompt_.assign(prompt.begin(), prompt.end());
  GroupSequence& g = group_.emplace_back();
  g.advantage = advantage;
  g.sequence.Append(prompt, 0);
}

void ExampleCollector::Add(absl::Span<const int32_t> tokens, bool counts,
                           float value) {
  if (tokens.empty()) return;
  group_.back().sequence.Append(tokens, counts ? 1 : 0);
  Label(Level::kPath, value);
}

void ExampleCollector::Label(Level level, float value) {
  if (!std::isnan(value)) group_.back().sequence.LabelLast(level, value);
}

void ExampleCollector::Label(const LevelLabels& labels) {
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    if (options_.levels.has(level)) Label(level, labels[l]);
  }
}

void ExampleCollector::EndResponse() {
  TrainSequence& s = group_.back().sequence;
  if (end_token_ >= 0 && s.lm_weight.back() > 0 &&
      s.tokens.back() != end_token_) {
    s.Append({end_token_}, 1);
  }
}

void ExampleCollector::OldLogprobs(absl::Span<const float> logprobs) {
  group_.back().old_logprobs = AtEnd(logprobs);
}

void ExampleCollector::Advantages(absl::Span<const float> advantages) {
  if (!advantages.empty()) group_.back().advantages = AtEnd(advantages);
}

std::vector<float> ExampleCollector::AtEnd(
    absl::Span<const float> values) const {
  std::vector<float> out(group_.back().sequence.tokens.size(), 0);
  std::copy(values.rbegin(), values.rend(), out.rbegin());
  return out;
}

void ExampleCollector::EndGroup(std::string name) {
  SequenceGroup group = std::exchange(group_, {});
  bool fits = true, teaches = true;
  for (const GroupSequence& g : group) {
    fits = fits && (options_.context_length == 0 ||
                    g.sequence.tokens.size() <=
                        static_cast<size_t>(options_.context_length));
    teaches = teaches && Teaches(g.sequence);
  }
  log_.Count("not longer than the context", 1, fits);
  if (!fits) return;
  log_.Count(kTeachesFilter, 1, teaches);
  if (!teaches) return;
  data_.groups.push_back(std::move(group));
  data_.names.push_back(std::move(name));
  const auto number = static_cast<int>(problems_.size());
  data_.problems.push_back(
      problems_.try_emplace(prompt_, number).first->second);
}

TrainData ExampleCollector::Take() {
  // In lexicographic order a prompt comes directly before those that begin with
  // it. Exported lines put the beginning of a response into the prompt.
  data_.problem_hashes.resize(problems_.size());
  const std::vector<int32_t>* root = nullptr;
  for (const auto& [prompt, number] : problems_) {
    const bool continues =
        root != nullptr && !root->empty() && root->size() <= prompt.size() &&
        std::equal(root->begin(), root->end(), prompt.begin());
    if (!continues) root = &prompt;
    data_.problem_hashes[static_cast<size_t>(number)] = HashTokens(*root);
  }
  return std::move(data_);
}

}  // namespace espalier
